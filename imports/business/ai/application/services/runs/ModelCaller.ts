/** Performs the effects of one run that concern its model. Calls are billed even when they are aborted. */
import type { LLMError } from '../../../domain/errors/LLMErrors';
import {
  billedResponse,
  LLMAbortedError,
  LLMContextLengthError,
  isLLMError,
  isStoreOutage,
  LLMStreamError,
  LLMTimeoutError,
} from '../../../domain/errors/LLMErrors';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { GenerateOptions, NormalizedOptions } from '../../../domain/types/LLMTypes';
import { outputText } from '../../../domain/entities/Content';
import type { FailedAttempt, Item, LLMResponse, MessageItem } from '../../../domain/types/ResponsesAPITypes';
import { RunCompactor } from './compaction/RunCompactor';
import { adoptInput, withOwnOptions } from '../ContentNormalizer';
import { optionsOf, speakerOf } from './handOver';
import { hostedMcpTools } from './hostedMcpTools';
import { estimateUsage } from '../routing/estimateUsage';
import { unreportedResponse } from '../routing/unreportedResponse';
import { priceCall } from '../routing/priceResponse';
import { sleep } from '../shared/time';
import { withCallers } from '../../../domain/run/withCallers';
import type { CallBill } from '../../../domain/run/runTotals';
import type { RunCancellation } from './RunCancellation';
import type { RunContext } from './RunContext';
import { toRunError } from './toRunError';
import type { RunEventTarget } from './RunEventTarget';

/** Milliseconds after which a call that the store has failed is made again. */
const STORE_RETRY_MS = 1_000;
/** How often a call is repeated with a shorter history: the first time one does, where the window is known. */
const MAX_REFUSALS = 3;

/** What is known of the call that is under way: of all attempts at it. */
interface Call {
  readonly iteration: number;
  /** The length of what was streamed, also by attempts that failed. */
  characters: number;
  /** Failures that were followed by another attempt. */
  readonly attempts: FailedAttempt[];
  /** How often it was repeated with a shorter history. */
  refusals: number;
  /** What the present attempt has streamed of the answer. */
  text: string;
}

/** Why a model call ended that was aborted for a message. */
class ModelInterruption extends LLMAbortedError {}

export class ModelCaller {
  private readonly context: RunContext;
  private readonly cancellation: RunCancellation;
  private readonly target: RunEventTarget;
  /** What a provider that keeps state already has of the transcript. */
  private sent: { readonly responseId: string; readonly upTo: number } | undefined;
  private present: Call | undefined;
  /** The call after which the agent speaks that does. Undefined: it is the run's first. */
  private handedOverBy: string | undefined;
  /** The options of the agent that began the run, if another one has spoken. */
  private first: NormalizedOptions | undefined;

  readonly compactor: RunCompactor;

  constructor(context: RunContext, cancellation: RunCancellation, target: RunEventTarget) {
    this.context = context;
    this.cancellation = cancellation;
    this.target = target;
    this.compactor = new RunCompactor(context, cancellation, target);
  }

  /** What the next call sends of the transcript, unless the vendor has it already. */
  history(): readonly Item[] {
    return this.compactor.history();
  }

  /** `historyFitted`, or `modelFailed`. */
  fitHistory(): void {
    this.handOver();
    const onFitted = (): void => this.target.dispatch({ type: 'historyFitted', at: Date.now() });
    const fitting = this.compactor.fit();
    if (fitting === undefined) onFitted();
    else
      fitting.then(
        (isChanged) => {
          if (isChanged) this.sent = undefined;
          onFitted();
        },
        (error: unknown) => this.failed(error),
      );
  }

  private handOver(): void {
    const { context } = this;
    const speaker = speakerOf(context);
    if (speaker?.callId === this.handedOverBy) return;
    this.first ??= context.options;
    this.handedOverBy = speaker?.callId;
    this.sent = undefined;
    context.options = speaker === undefined ? this.first : optionsOf(this.first, speaker.to, context.provider);
  }

  /** `modelAnswered`; `modelRefused` if the call is to be made again; or `modelFailed`. */
  async call(): Promise<void> {
    const { options, provider, run } = this.context;
    const call = this.callOf(run.current.iterations);
    let response: LLMResponse;
    try {
      response = await this.cancellation.race(this.send(this.request(call), call));
    } catch (error) {
      if (error instanceof ModelInterruption) this.interrupted(call);
      else await this.repeatOrFail(error, call);
      return;
    }
    this.present = undefined;
    this.cancellation.releaseSignal();
    const { length } = run.transcript;
    this.compactor.responded(response, length);
    if (options.store === true && provider.getCapabilities(options.model).keepsState)
      this.sent = { responseId: response.id, upTo: length + response.output.length };
    this.target.dispatch({ type: 'modelAnswered', response: this.compactor.withLosses(response), at: Date.now() });
  }

  /** The call of this iteration, at which there may have been attempts before. */
  private callOf(iteration: number): Call {
    if (this.present?.iteration !== iteration)
      this.present = { iteration, characters: 0, attempts: [], refusals: 0, text: '' };
    return this.present;
  }

  private async repeatOrFail(error: unknown, call: Call): Promise<void> {
    try {
      if (!(await this.isRepeated(error, call))) throw error;
    } catch (thrown) {
      if (thrown instanceof ModelInterruption) this.interrupted(call);
      else this.failed(thrown);
      return;
    }
    this.target.dispatch({ type: 'modelRefused', at: Date.now() });
  }

  /** Aborts the call. What it has cost is billed, and what it has said is kept. */
  interrupt(): void {
    this.cancellation.interrupt(new ModelInterruption('The run was sent a message.'));
  }

  private interrupted({ text, characters }: Call): void {
    this.present = undefined;
    const item: MessageItem | undefined =
      text === ''
        ? undefined
        : { type: 'message', role: 'assistant', status: 'incomplete', content: [outputText(text.toWellFormed())] };
    this.target.dispatch({ type: 'modelInterrupted', at: Date.now(), bill: this.estimate(characters), item });
  }

  private async isRepeated(error: unknown, call: Call): Promise<boolean> {
    if (await this.isMadePortable(error, call.attempts)) return true;
    if (await this.isShortened(error, call.refusals)) {
      call.refusals += 1;
      return true;
    }
    if (this.context.journal === undefined || !isStoreOutage(error)) return false;
    // The call needs the store, too, for a credential or a budget, and the run waits for it with its next write.
    await sleep(STORE_RETRY_MS, this.cancellation.signal);
    return true;
  }

  failed(thrown: unknown): void {
    const { cancellation } = this;
    const error = cancellation.aborted ? cancellation.error : toRunError(thrown);
    const isSent = this.context.run.current.phase === 'calling';
    this.target.dispatch({ type: 'modelFailed', at: Date.now(), error, bill: isSent ? this.billOf(error) : undefined });
  }

  /** The model call that was under way when the run's last owner died has cost tokens. */
  billInterrupted(): void {
    this.target.dispatch({ type: 'modelBilled', bill: this.estimate(0) });
  }

  /** What a failed call has used, estimated if the vendor did not report it. */
  private billOf(error: LLMError): LLMResponse | CallBill | undefined {
    const { attempts = [], characters = 0 } = this.present ?? {};
    const response = unreportedResponse(billedResponse(error), attempts);
    if (response !== undefined) return response;
    const isBilled = this.cancellation.aborted || error instanceof LLMStreamError || error instanceof LLMTimeoutError;
    return isBilled ? this.estimate(characters) : undefined;
  }

  private estimate(characters: number): CallBill {
    const { provider, options } = this.context;
    const usage = estimateUsage(this.compactor.history(), characters);
    return { usage, cost: priceCall(usage, provider, [options.model]), model: options.model };
  }

  private request(call: Call): GenerateOptions {
    const { run, options } = this.context;
    const base = call.iteration === 1 ? options : withoutForcedTool(options);
    const { sent } = this;
    const request = sent === undefined ? base : { ...base, previous_response_id: sent.responseId };
    const { iteration } = call;
    const { executionId } = run;
    const turn = this.context.journal === undefined ? undefined : { executionId, iteration };
    const { signal } = this.cancellation;
    const input = adoptInput(this.input());
    const onRetry = this.retryListener(call);
    const { tools = options.tools } = this.compactor;
    const hostedMcp = tools === undefined ? undefined : hostedMcpTools(tools, this.context);
    const promptCache = this.promptCache();
    const { reader, findableTools } = this.compactor;
    const source = options.origin?.source === 'job' ? 'job' : 'run';
    const own = omitUndefined({
      input,
      signal,
      onRetry,
      executionId,
      tools,
      hostedMcp,
      findableTools,
      promptCache,
      compactedBy: reader,
      turn,
      origin: turn && ({ ...options.origin, source, executionId, iteration } as const),
    });
    return withOwnOptions(request, own);
  }

  /** The requests of a run with tools begin alike, and so do those of a conversation that has a key. */
  private promptCache(): GenerateOptions['promptCache'] {
    const { options, run } = this.context;
    const { promptCache = options.tools === undefined ? undefined : 'auto' } = options;
    if (promptCache === undefined || promptCache === false) return promptCache;
    const { breakpoints, ...others } = promptCache === 'auto' ? {} : promptCache;
    // The items of a compacted history have other places.
    const isKept = breakpoints !== undefined && run.current.compaction === undefined;
    return { key: this.compactor.cacheKey, ...others, ...(isKept ? { breakpoints } : {}) };
  }

  /** The transcript's items, which are adopted: all of them, or those that the vendor does not have yet. */
  private input(): readonly Item[] {
    const { transcript } = this.context.run;
    return this.sent === undefined ? this.compactor.history() : withCallers(transcript, this.sent.upTo);
  }

  /** Whether the vendor has refused the history as too long, and a shorter one can be sent instead. */
  private async isShortened(error: unknown, refusals: number): Promise<boolean> {
    if (!(error instanceof LLMContextLengthError) || this.cancellation.aborted || refusals >= MAX_REFUSALS)
      return false;
    if (!(await this.compactor.shorten())) return false;
    this.sent = undefined;
    return true;
  }

  /**
   * Whether the call failed because only its vendor can read what it has compacted, which no longer wants it or does
   * not answer, and a history can be sent instead that a fallback can read, too.
   */
  private async isMadePortable(error: unknown, attempts: readonly FailedAttempt[]): Promise<boolean> {
    if (this.compactor.reader === undefined || this.cancellation.aborted || !isLLMError(error)) return false;
    const isRefused = error.code === 'unsupported-feature' || error.code === 'invalid-request';
    if (!isRefused && !attempts.some(({ fallback }) => fallback !== undefined)) return false;
    if (!(await this.compactor.makePortable())) return false;
    this.sent = undefined;
    return true;
  }

  private retryListener(call: Call): NonNullable<GenerateOptions['onRetry']> {
    const { attempts } = call;
    return (attempt) => {
      attempts.push(attempt);
      call.text = '';
      this.target.dispatch({ type: 'modelRetried', attempt });
      this.context.options.onRetry?.(attempt);
    };
  }

  private async send(request: GenerateOptions, call: Call): Promise<LLMResponse> {
    const { run, provider, stream } = this.context;
    if (!stream) return provider.generate(run.userId, request);
    for await (const event of provider.stream(run.userId, request)) {
      switch (event.type) {
        case 'response.output_text.delta':
        case 'response.refusal.delta':
        case 'response.reasoning.delta':
          call.characters += event.delta.length;
          if (event.type === 'response.output_text.delta') call.text += event.delta;
          this.target.dispatch({ type: 'modelSaid', kind: DELTA_KIND[event.type], delta: event.delta });
          break;
        case 'response.tool_use.delta': {
          const { call_id, name, delta } = event;
          call.characters += delta.length;
          this.target.dispatch({ type: 'modelWroteArguments', call_id, name, delta });
          break;
        }
        case 'response.completed':
          return event.response;
        case 'response.failed':
          throw event.error;
        default:
      }
    }
    throw new LLMStreamError('The stream ended without a response.');
  }
}

const DELTA_KIND = {
  'response.output_text.delta': 'text',
  'response.refusal.delta': 'refusal',
  'response.reasoning.delta': 'reasoning',
} as const;

/** Forces a tool in the first turn only; a tool forced in every turn would never let the model answer. */
function withoutForcedTool(options: NormalizedOptions): NormalizedOptions {
  const choice = options.tool_choice;
  const isForced =
    choice === 'required' ||
    (typeof choice === 'object' && (choice.type !== 'allowed_tools' || choice.mode === 'required'));
  if (!isForced) return options;
  return {
    ...options,
    tool_choice: typeof choice === 'object' && choice.type === 'allowed_tools' ? { ...choice, mode: 'auto' } : 'auto',
  };
}
