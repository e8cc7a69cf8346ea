/** One run of an agent, from the moment it is requested: its text, events and result, and what may be done to it. */
import type { AgenticLoop, ExecuteOptions } from '../business/ai/application/services/AgenticLoop';
import type { MessageChange, SendOptions, SentMessage } from '../business/ai/application/services/runs/MessageQueues';
import type { ToolCall } from '../business/ai/domain/entities/Tool';
import { ConflictError, LLMAbortedError } from '../business/ai/domain/errors/LLMErrors';
import type { QueuedMessage } from '../business/ai/domain/interfaces/RunMessageStore';
import type {
  AgentEventOf,
  CallOfRun,
  CallStep,
  FamilyEvent,
  LocalAgentEvent,
} from '../business/ai/domain/types/AgentEvents';
import type { LLMInput } from '../business/ai/domain/types/LLMTypes';
import type { LLMResponse, Usage } from '../business/ai/domain/types/ResponsesAPITypes';
import type { RunResult } from '../business/ai/domain/entities/Run';
import { toAgentResult } from './AgentResult';
import type { AgentResult } from './AgentResult';
import { RunEventBuffer } from './RunEventBuffer';

/** What a run needs: a loop, whose run it is, and what to do. */
export interface AgentRunInit {
  readonly loop: AgenticLoop;
  readonly userId: string;
  readonly options: ExecuteOptions & { readonly executionId: string };
  readonly metadata: Parameters<AgenticLoop['start']>[2];
}

/**
 * The id of a call of the run, or a call of any run, as the events of calls name it. What `tool:input_required` asks is
 * answered by its event, and by nothing else once the call was decided about before.
 */
export type RunCall = string | (CallOfRun & { readonly input?: { readonly id: string } | undefined });

/**
 * The run itself, `events`, `familyEvents` and `textStream` may be iterated any number of times, at any time and speed:
 * each iteration starts with the first event, and never slows the run. Leaving an iteration early does not affect the
 * run; `cancel` stops it. An error that ends the run is thrown by every iteration and rejects the promises, whether or
 * not anyone awaits them.
 */
export class AgentRun implements AsyncIterable<LocalAgentEvent> {
  /** Valid at once. */
  readonly executionId: string;
  /** Settles as `AgenticLoop.execute` does: when the run ends or, with `onPending: 'return'`, at its first answer. */
  readonly result: Promise<AgentResult>;
  private readonly loop: AgenticLoop;
  private readonly buffer = new RunEventBuffer();
  private readonly cancellation = new AbortController();
  private readonly started: Promise<unknown>;
  /** Resolves when the run has ended, whichever way. */
  private readonly ended: Promise<void>;

  /** @throws ConflictError if a run with this id is in progress in this process */
  constructor({ loop, userId, options, metadata }: AgentRunInit) {
    this.executionId = options.executionId;
    this.loop = loop;
    const stop = subscribe(loop, this.executionId, this.buffer);
    const { signal } = options;
    const onAbort = (): void => this.cancellation.abort(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted === true) onAbort();
    const starting = loop.start(userId, { ...options, signal: this.cancellation.signal }, metadata);
    this.started = ignoreRejection(starting);
    const done = starting.then((run) => run.done);
    this.result = ignoreRejection(
      done.then((result) => {
        this.buffer.endText(result.response.id);
        return toAgentResult(result);
      }),
    );
    this.ended = this.follow(done, options.onPending === 'return').finally(() => {
      stop();
      signal?.removeEventListener('abort', onAbort);
    });
  }

  /** The usage of the run up to `result`. */
  get usage(): Promise<Usage> {
    return ignoreRejection(this.result.then(({ usage }) => usage));
  }

  /** The text that the model writes, without reasoning and refusals. Ends when `result` settles. */
  get textStream(): AsyncIterable<string> {
    return { [Symbol.asyncIterator]: () => this.buffer.text() };
  }

  /** The run's events, from `run:started` to its last one. */
  get events(): AsyncIterable<LocalAgentEvent> {
    return { [Symbol.asyncIterator]: () => this.buffer.events() };
  }

  /**
   * The run's events and, between them, those of the runs that its calls start, directly or not: each has the calls
   * that lead to it as `path`. What a run below does comes before the event with which its call settles. An
   * iteration that starts after a response of one below has no deltas of it. Runs that go on in another process are not
   * part of it.
   */
  get familyEvents(): AsyncIterable<FamilyEvent> {
    return { [Symbol.asyncIterator]: () => this.buffer.familyEvents() };
  }

  /** With `onPending: 'return'`: the answers to late results, after the one in `result`. */
  get followUps(): AsyncIterable<LLMResponse> {
    const { result } = this;
    return {
      async *[Symbol.asyncIterator]() {
        yield* (await result).followUps;
      },
    };
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<LocalAgentEvent, undefined> {
    return this.buffer.events();
  }

  /** Cancels the run, and resolves when it has ended. Has no effect on one that has ended. */
  async cancel(): Promise<void> {
    this.cancellation.abort(new LLMAbortedError('The run was cancelled.'));
    await this.started.catch(() => undefined);
    // Another process may have taken the run over.
    if (this.loop.claims.ownerId !== undefined && !this.loop.local.has(this.executionId))
      await this.loop.cancel(this.executionId);
    await this.ended;
  }

  /** Submits the result of a call, as `AgenticLoop.submitToolResult` does. */
  async submitToolResult(
    call: RunCall,
    result: Parameters<AgenticLoop['submitToolResult']>[2],
  ): Promise<'accepted' | 'already-settled'> {
    return this.loop.submitToolResult(...(await this.named(call)), result, undefined, questionOf(call));
  }

  /** Sends the run a message, as `AgenticLoop.send` does. */
  async send(message: LLMInput, options?: SendOptions): Promise<SentMessage> {
    await this.started;
    return this.loop.send(this.executionId, message, options);
  }

  /** Changes a message that waits, as `AgenticLoop.editMessage` does. */
  async editMessage(messageId: string, change: MessageChange): Promise<void> {
    await this.started;
    await this.loop.editMessage(this.executionId, messageId, change);
  }

  /** Withdraws a message that waits, as `AgenticLoop.withdrawMessage` does. */
  async withdrawMessage(messageId: string): Promise<void> {
    await this.started;
    await this.loop.withdrawMessage(this.executionId, messageId);
  }

  /** The messages that the model has not received, as `AgenticLoop.queuedMessages` returns them. */
  async queuedMessages(): Promise<readonly QueuedMessage[]> {
    await this.started;
    return this.loop.queuedMessages(this.executionId);
  }

  /** Signals the run, as `AgenticLoop.signal` does. */
  async signal(name: string, payload?: unknown, signalId?: string): Promise<'accepted' | 'repeated'> {
    await this.started;
    return this.loop.signal(this.executionId, name, payload, signalId);
  }

  /** Approves a call, also of a run below, as `AgenticLoop.approve` does. */
  async approve(call: RunCall, shownHash?: string): Promise<ToolCall['state']> {
    return this.loop.approve(...(await this.named(call)), shownHash, undefined, questionOf(call));
  }

  /** Repeats a call, as `AgenticLoop.rerun` does. */
  async rerun(call: RunCall, startTime: number, shownHash?: string): Promise<ToolCall['state']> {
    return this.loop.rerun(...(await this.named(call)), startTime, shownHash);
  }

  /** Rejects a call, as `AgenticLoop.reject` does. */
  async reject(call: RunCall, reason?: string, shownHash?: string): Promise<ToolCall['state']> {
    return this.loop.reject(...(await this.named(call)), reason, shownHash, undefined, questionOf(call));
  }

  private async named(call: RunCall): Promise<readonly [executionId: string, callId: string]> {
    await this.started;
    return typeof call === 'string' ? [this.executionId, call] : [call.executionId, call.callId];
  }

  private async follow(done: Promise<RunResult>, returnsEarly: boolean): Promise<void> {
    try {
      await done;
      if (returnsEarly) await this.waitForEnd();
      this.buffer.end();
    } catch (error) {
      this.buffer.end(error);
    }
  }

  /** After the first answer of a run that returns early. */
  private async waitForEnd(): Promise<void> {
    if (this.loop.local.has(this.executionId) || this.loop.claims.ownerId !== undefined)
      await this.loop.waitForResult(this.executionId);
  }
}

function questionOf(call: RunCall): string | undefined {
  return typeof call === 'string' ? undefined : call.input?.id;
}

/** A run whose events are buffered. */
interface BufferedRun {
  readonly buffer: RunEventBuffer;
  /** The runs whose events the buffer receives. */
  readonly family: Set<string>;
  /** The calls that led to it from the run of the buffer. Absent: it is that one. */
  readonly path?: readonly CallStep[];
}

const BUFFERED = new WeakMap<AgenticLoop, Map<string, BufferedRun>>();

/** One listener for each loop, however many runs it has. @returns ends the subscription @throws ConflictError */
function subscribe(loop: AgenticLoop, executionId: string, buffer: RunEventBuffer): () => void {
  let runs = BUFFERED.get(loop);
  if (runs === undefined) {
    const created = new Map<string, BufferedRun>();
    loop.on('event', (event) => {
      if (event.type === 'run:started' && event.parentExecutionId !== undefined) addRunBelow(loop, created, event);
      const run = created.get(event.executionId);
      run?.buffer.append(event, run.path);
    });
    BUFFERED.set(loop, created);
    runs = created;
  }
  if (runs.has(executionId)) throw new ConflictError(`The run "${executionId}" is in progress.`);
  const family = new Set([executionId]);
  runs.set(executionId, { buffer, family });
  return () => {
    for (const id of family) runs.delete(id);
  };
}

function addRunBelow(
  loop: AgenticLoop,
  runs: Map<string, BufferedRun>,
  { executionId, parentExecutionId = '', parentCallId: callId = '' }: AgentEventOf<'run:started'>,
): void {
  const parent = runs.get(parentExecutionId);
  const name = loop.getExecutionContext(parentExecutionId)?.toolCalls.get(callId)?.name;
  if (parent === undefined || name === undefined || runs.has(executionId)) return;
  const { buffer, family, path = [] } = parent;
  family.add(executionId);
  runs.set(executionId, { buffer, family, path: [...path, { executionId: parentExecutionId, callId, name }] });
}

/** Errors reach whoever awaits or iterates; nobody has to. */
export function ignoreRejection<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}
