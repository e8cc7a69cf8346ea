/** A typed value from an agent while the model writes it. */
import type { AgentEvent } from '../business/ai/domain/types/AgentEvents';
import type { ILLMProvider } from '../business/ai/domain/interfaces/ILLMProvider';
import type { PartialOf, SchemaInput, ValueOf } from '../business/ai/domain/types/Schemas';
import { PartialJson } from '../business/ai/domain/util/PartialJson';
import { AgentRun, ignoreRejection } from './AgentRun';
import type { AgentRunInit } from './AgentRun';
import { generateObject } from './generateObject';
import type { ObjectResult } from './generateObject';

export class ObjectRun<Schema extends SchemaInput> {
  /** The first run's. A second one corrects a value that violates the schema. */
  readonly executionId: string;
  /** Rejects with what `Agent.generateObject` throws, whether or not anyone awaits it. */
  readonly result: Promise<ObjectResult<ValueOf<Schema>>>;
  private readonly runs = [
    Promise.withResolvers<AgentRun | undefined>(),
    Promise.withResolvers<AgentRun | undefined>(),
  ];
  private readonly cancellation = new AbortController();

  /** @throws LLMInvalidRequestError, ConflictError */
  constructor(init: AgentRunInit, schema: Schema, provider: Pick<ILLMProvider, 'getCapabilities'>) {
    const { executionId, signal } = init.options;
    const own = this.cancellation.signal;
    const options = { ...init.options, signal: signal === undefined ? own : AbortSignal.any([signal, own]) };
    this.executionId = executionId;
    let count = 0;
    const start = (each: AgentRunInit): AgentRun['result'] => {
      const run = new AgentRun(each);
      this.runs[count]?.resolve(run);
      count += 1;
      return run.result;
    };
    this.result = ignoreRejection(
      generateObject({ ...init, options }, schema, provider, start).finally(() => {
        for (const { resolve } of this.runs) resolve(undefined);
      }),
    );
  }

  /** The value, once it is complete and valid. */
  get value(): Promise<ValueOf<Schema>> {
    return ignoreRejection(this.result.then(({ value }) => value));
  }

  /**
   * The value as far as it is written, before it is validated: the same object each time, which grows, until the model
   * begins anew. May be iterated any number of times. Throws what rejects `result`.
   */
  get objectStream(): AsyncIterable<PartialOf<Schema>> {
    return { [Symbol.asyncIterator]: () => this.partials() };
  }

  /** Cancels the run, and resolves when it has ended. */
  async cancel(): Promise<void> {
    this.cancellation.abort();
    await this.result.catch(() => undefined);
  }

  private async *partials(): AsyncGenerator<PartialOf<Schema>, void, undefined> {
    for (const { promise } of this.runs) {
      const run = await promise;
      // Boundary: the text has not been validated yet.
      if (run !== undefined) yield* partialValues(run.events) as AsyncGenerator<PartialOf<Schema>>;
    }
    await this.result;
  }
}

/** Each model call, and each attempt at it, begins a value. */
async function* partialValues(events: AsyncIterable<AgentEvent>): AsyncGenerator<unknown, void, undefined> {
  let json = new PartialJson();
  for await (const event of events) {
    if (event.type === 'iteration:start' || event.type === 'llm:retry') json = new PartialJson();
    else if (event.type === 'llm:delta' && event.kind === 'text' && json.push(event.delta)) yield json.value;
    else if (event.type === 'llm:response' && json.end()) yield json.value;
  }
}
