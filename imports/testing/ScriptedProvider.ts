/** A provider that plays a script, one step per call, without any network. */
import { CAPABILITIES } from './capabilities';
import { answer, eventsOf } from './responses';
import type { AccessCheck, ILLMProvider, ModelCapabilities } from '../business/ai/domain/interfaces/ILLMProvider';
import type { GenerateOptions } from '../business/ai/domain/types/LLMTypes';
import type { LLMResponse } from '../business/ai/domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../business/ai/domain/types/StreamEvents';

/**
 * The outcome of a call: an answer's text, a response of `answer`, `calling` and so on, a list of stream events (an
 * Error in it is thrown at its position), or an Error to throw.
 */
export type ScriptedOutcome = string | LLMResponse | Error | readonly (ResponseStreamEvent | Error)[];
/** A function decides by the request, which it may check. */
export type ScriptedStep =
  | ScriptedOutcome
  | ((options: GenerateOptions, userId: string) => ScriptedOutcome | Promise<ScriptedOutcome>);

export interface ScriptedCall {
  readonly kind: 'generate' | 'stream';
  readonly userId: string;
  readonly options: GenerateOptions;
}

export interface ScriptedProviderOptions {
  /** Default: `scripted`. */
  readonly name?: string;
  /** Default: everything but tools that run asynchronously and stored responses. */
  readonly capabilities?: Partial<ModelCapabilities>;
  /** Whether `validateAccess` finds the access valid, or what it throws. Default: true. */
  readonly access?: boolean | Error;
}

export class ScriptedProvider implements ILLMProvider {
  /** All calls in order, including surplus ones. */
  readonly calls: ScriptedCall[] = [];
  readonly deleted: { readonly userId: string; readonly responseId: string }[] = [];
  /** Number of streams that were abandoned before their last event. */
  abandonedStreams = 0;
  private readonly script: readonly ScriptedStep[];
  private readonly name: string;
  private readonly capabilities: ModelCapabilities;
  private readonly access: boolean | Error;

  /** A call that the script has no step for throws an Error. */
  constructor(script: readonly ScriptedStep[] = [], options: ScriptedProviderOptions = {}) {
    this.script = script;
    this.name = options.name ?? 'scripted';
    this.capabilities = { ...CAPABILITIES, ...options.capabilities };
    this.access = options.access ?? true;
  }

  getProviderName(): string {
    return this.name;
  }

  async generate(userId: string, options: GenerateOptions): Promise<LLMResponse> {
    const outcome = await this.play('generate', userId, options);
    if (outcome instanceof Error) throw outcome;
    if (!isEventList(outcome)) return outcome;
    for (const event of outcome) {
      if (event instanceof Error) throw event;
      if (event.type === 'response.failed') throw event.error;
      if (event.type === 'response.completed') return event.response;
    }
    throw new Error(`${this.name}: The scripted events contain neither response.completed nor response.failed.`);
  }

  async *stream(userId: string, options: GenerateOptions): AsyncGenerator<ResponseStreamEvent, void, undefined> {
    const outcome = await this.play('stream', userId, options);
    if (outcome instanceof Error) throw outcome;
    let finished = false;
    try {
      for (const event of isEventList(outcome) ? outcome : eventsOf(outcome)) {
        options.signal?.throwIfAborted();
        if (event instanceof Error) {
          finished = true;
          throw event;
        }
        yield event;
      }
      finished = true;
    } finally {
      if (!finished) this.abandonedStreams += 1;
    }
  }

  validateAccess(): Promise<AccessCheck> {
    return this.access instanceof Error ? Promise.reject(this.access) : Promise.resolve({ valid: this.access });
  }

  getCapabilities(): ModelCapabilities {
    return this.capabilities;
  }

  deleteResponse(userId: string, responseId: string): Promise<void> {
    this.deleted.push({ userId, responseId });
    return Promise.resolve();
  }

  /** @throws Error unless there was exactly one call per step */
  assertPlayedOut(): void {
    if (this.calls.length !== this.script.length) {
      throw new Error(
        `${this.name}: The script has ${this.script.length} steps, but there were ${this.calls.length} calls.`,
      );
    }
  }

  private async play(
    kind: ScriptedCall['kind'],
    userId: string,
    options: GenerateOptions,
  ): Promise<Exclude<ScriptedOutcome, string>> {
    options.signal?.throwIfAborted();
    const step = this.script[this.calls.length];
    this.calls.push({ kind, userId, options });
    if (step === undefined)
      throw new Error(
        `${this.name}: Unexpected call ${this.calls.length}: The script has ${this.script.length} steps.`,
      );
    const outcome = typeof step === 'function' ? await step(options, userId) : step;
    return typeof outcome === 'string' ? answer(outcome) : outcome;
  }
}

/** A step that does not respond until the caller aborts, and then throws the caller's reason. */
export function untilAborted(options: GenerateOptions): Promise<never> {
  return new Promise((_resolve, reject) => {
    const { signal } = options;
    if (signal === undefined) throw new Error('This call has no signal, so it cannot be aborted.');
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}

function isEventList(
  outcome: LLMResponse | readonly (ResponseStreamEvent | Error)[],
): outcome is readonly (ResponseStreamEvent | Error)[] {
  return Array.isArray(outcome);
}
