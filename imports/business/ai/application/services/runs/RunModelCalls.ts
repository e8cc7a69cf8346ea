/** The model calls of one run: sent with the full transcript, streamed, recorded, and counted even when aborted. */
import type { LLMError } from '../../../domain/errors/LLMErrors';
import {
  billedResponse,
  LLMContextLengthError,
  isLLMError,
  isStoreOutage,
  LLMStreamError,
  LLMTimeoutError,
} from '../../../domain/errors/LLMErrors';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { GenerateOptions, NormalizedOptions } from '../../../domain/types/LLMTypes';
import type { FailedAttempt, Item, LLMResponse } from '../../../domain/types/ResponsesAPITypes';
import { RunCompactor } from './compaction/RunCompactor';
import { adoptInput, withOwnOptions } from '../ContentNormalizer';
import { hostedMcpTools } from './hostedMcpTools';
import { estimateUsage } from '../routing/estimateUsage';
import { unreportedResponse } from '../routing/unreportedResponse';
import { priceCall } from '../routing/priceResponse';
import { sleep } from '../shared/time';
import type { TurnCall } from './LiveRun';
import type { RunCancellation } from './RunCancellation';
import type { RunJournal } from './durable/RunJournal';
import type { RunContext } from './RunContext';
import type { ToolCallObserver } from './RunToolCalls';

/** Milliseconds after which a call that the store has failed is made again. */
const STORE_RETRY_MS = 1_000;
/** How often a call is repeated with a shorter history: the first time one does, where the window is known. */
const MAX_REFUSALS = 3;

export class RunModelCalls {
  private readonly context: RunContext;
  private readonly cancellation: RunCancellation;
  private readonly journal: RunJournal | undefined;
  private readonly observer: Pick<ToolCallObserver, 'onTransition'>;
  /** What a provider that keeps state already has of the transcript. */
  private sent: { readonly responseId: string; readonly upTo: number } | undefined;

  readonly compactor: RunCompactor;

  constructor(
    context: RunContext,
    cancellation: RunCancellation,
    journal: RunJournal | undefined,
    observer: Pick<ToolCallObserver, 'onTransition'>,
  ) {
    this.context = context;
    this.cancellation = cancellation;
    this.journal = journal;
    this.observer = observer;
    this.compactor = new RunCompactor(context, cancellation, journal);
  }

  /** What the next call sends of the transcript, unless the vendor has it already. */
  history(): readonly Item[] {
    return this.compactor.history();
  }

  /**
   * @param lateCallIds calls whose late results this request delivers
   * @throws what the provider throws, or the reason for the run's cancellation
   */
  async call(lateCallIds: readonly string[]): Promise<LLMResponse> {
    const { cancellation, journal } = this;
    const { run } = this.context;
    const fitting = this.compactor.fit();
    if (fitting !== undefined && (await fitting)) this.sent = undefined;
    run.iterations += 1;
    run.emit({ type: 'iteration:start', iteration: run.iterations });
    const received = { characters: 0 };
    const attempts: FailedAttempt[] = [];
    let refusals = 0;
    run.isCalling = true;
    this.observer.onTransition();
    try {
      for (;;) {
        if (journal !== undefined) {
          const isStored = journal.beforeModelCall();
          if (isStored !== undefined) await cancellation.race(isStored);
        }
        try {
          const response = await cancellation.race(this.send(this.request(attempts), received));
          return this.compactor.withLosses(response);
        } catch (error) {
          if (await this.isMadePortable(error, attempts)) continue;
          if (await this.isShortened(error, refusals)) {
            refusals += 1;
            continue;
          }
          if (journal === undefined || !isStoreOutage(error)) throw error;
          // The call needs the store, too, for a credential or a budget, and the run waits for it with its next write.
          await sleep(STORE_RETRY_MS, cancellation.signal);
        }
      }
    } catch (thrown) {
      const error = cancellation.aborted ? cancellation.error : thrown;
      this.countFailedCall(error, received.characters, attempts);
      if (lateCallIds.length > 0)
        run.emit({ type: 'nonblocking:error', callIds: lateCallIds, error: errorSummary(error) });
      throw error;
    } finally {
      run.isCalling = false;
    }
  }

  /**
   * Appends the response to the transcript, and marks the results that its request delivered.
   * @param lateCallIds calls whose late results were delivered
   * @param callIds calls whose results were delivered in their own turn
   * @returns the tool calls of the response
   */
  record(response: LLMResponse, lateCallIds: readonly string[], callIds: readonly string[]): readonly TurnCall[] {
    const { run, options, provider } = this.context;
    const calls = run.appendResponse(response);
    this.compactor.responded(response);
    run.markDelivered([...callIds, ...lateCallIds], response.id);
    if (options.store === true && provider.getCapabilities(options.model).keepsState) {
      this.sent = { responseId: response.id, upTo: run.transcript.length };
    }
    run.emit({ type: 'llm:response', iteration: run.iterations, response });
    if (lateCallIds.length > 0) run.emit({ type: 'nonblocking:llm_response', callIds: lateCallIds, response });
    return calls;
  }

  /** @param attempts receives the failures of attempts that are followed by another */
  private request(attempts: FailedAttempt[]): GenerateOptions {
    const { run, options } = this.context;
    const base = run.iterations === 1 ? options : withoutForcedTool(options);
    const { sent } = this;
    const request = sent === undefined ? base : { ...base, previous_response_id: sent.responseId };
    const turn = this.journal === undefined ? undefined : { executionId: run.executionId, iteration: run.iterations };
    const { signal } = this.cancellation;
    const input = adoptInput(this.input());
    const onRetry = this.retryListener(attempts);
    const { executionId } = run;
    const { tools = options.tools } = this.compactor;
    const hostedMcp = tools === undefined ? undefined : hostedMcpTools(tools, this.context);
    const promptCache = this.promptCache();
    const { reader } = this.compactor;
    const own = omitUndefined({
      input,
      signal,
      onRetry,
      executionId,
      tools,
      hostedMcp,
      promptCache,
      compactedBy: reader,
    });
    if (turn === undefined) return withOwnOptions(request, own);
    const source = options.origin?.source === 'job' ? 'job' : 'run';
    const origin = { ...options.origin, source, ...turn } as const;
    return withOwnOptions(request, { ...own, turn, origin });
  }

  /** The requests of a run with tools begin alike, and so do those of a conversation that has a key. */
  private promptCache(): GenerateOptions['promptCache'] {
    const { options, run } = this.context;
    const { promptCache = options.tools === undefined ? undefined : 'auto' } = options;
    if (promptCache === undefined || promptCache === false) return promptCache;
    const { breakpoints, ...others } = promptCache === 'auto' ? {} : promptCache;
    // The items of a compacted history have other places.
    const isKept = breakpoints !== undefined && run.compaction === undefined;
    return { key: run.executionId, ...others, ...(isKept ? { breakpoints } : {}) };
  }

  /** The transcript's items, which are adopted: all of them, or those that the vendor does not have yet. */
  private input(): readonly Item[] {
    const { transcript } = this.context.run;
    return this.sent === undefined ? this.compactor.history() : transcript.slice(this.sent.upTo);
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

  private retryListener(attempts: FailedAttempt[]): NonNullable<GenerateOptions['onRetry']> {
    const { run, options } = this.context;
    const { iterations: iteration } = run;
    return (failed) => {
      attempts.push(failed);
      // A discarded response is billed like any other.
      if (failed.usage !== undefined) run.bill.addUsage(failed.usage, failed, '');
      if (!this.cancellation.aborted) run.emit({ type: 'llm:retry', iteration, ...failed });
      options.onRetry?.(failed);
    };
  }

  /** @param received counts the characters that arrive, including those of a call that fails */
  private async send(request: GenerateOptions, received: { characters: number }): Promise<LLMResponse> {
    const { run, provider, stream } = this.context;
    if (!stream) return provider.generate(run.userId, request);
    for await (const event of provider.stream(run.userId, request)) {
      switch (event.type) {
        case 'response.output_text.delta':
        case 'response.refusal.delta':
        case 'response.reasoning.delta':
          received.characters += event.delta.length;
          run.emit({ type: 'llm:delta', kind: DELTA_KIND[event.type], delta: event.delta });
          break;
        case 'response.completed':
          return event.response;
        case 'response.failed':
          throw event.error;
        default:
      }
    }
    throw new LLMStreamError('The stream ended without a response.');
  }

  /** Adds the usage of a failed call, estimated if the vendor did not report it. */
  private countFailedCall(error: unknown, characters: number, attempts: readonly FailedAttempt[]): void {
    const { run, provider, options } = this.context;
    const response = unreportedResponse(billedResponse(error), attempts);
    if (response !== undefined) run.bill.addResponse(response);
    else if (this.cancellation.aborted || error instanceof LLMStreamError || error instanceof LLMTimeoutError) {
      const usage = estimateUsage(this.compactor.history(), characters);
      run.bill.addUsage(usage, priceCall(usage, provider, [options.model]), options.model);
    }
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

function errorSummary(error: unknown): { code: LLMError['code']; message: string } {
  return isLLMError(error)
    ? { code: error.code, message: error.message }
    : { code: 'vendor-error', message: 'The model call failed.' };
}
