/**
 * A run's calls of its model: each is asked with all that was said, told as it comes, recorded when it has come,
 * and counted even when it is cut off.
 */
import { addUsage } from '../../../domain/entities/Response';
import type { LLMError } from '../../../domain/errors/LLMErrors';
import { isLLMError, LLMStreamError, LLMTimeoutError } from '../../../domain/errors/LLMErrors';
import type { GenerateOptions, NormalizedOptions } from '../../../domain/types/LLMTypes';
import type { Item, LLMResponse } from '../../../domain/types/ResponsesAPITypes';
import { adoptInput } from '../ContentNormalizer';
import { estimateUsage } from '../routing/estimateUsage';
import type { TurnCall } from './LiveRun';
import { buildRequest } from '../MessageBuilder';
import type { RunCancellation } from './RunCancellation';
import type { RunJournal } from './durable/RunJournal';
import type { RunContext } from './RunContext';

export class RunModelCalls {
  /** A call is under way. */
  isCalling = false;
  private readonly context: RunContext;
  private readonly cancellation: RunCancellation;
  private readonly journal: RunJournal | undefined;
  private readonly onCall: () => void;
  private sent: { readonly responseId: string; readonly upTo: number } | undefined;

  /** @param onCall told when a call begins */
  constructor(parts: RunContext, interruption: RunCancellation, journal: RunJournal | undefined, onCall: () => void) {
    this.context = parts;
    this.cancellation = interruption;
    this.journal = journal;
    this.onCall = onCall;
  }

  /**
   * @param late calls whose results are told for the first time
   * @throws what the provider throws, or what the run was interrupted with
   */
  async call(late: readonly string[]): Promise<LLMResponse> {
    const { cancellation, journal } = this;
    const { execution } = this.context;
    execution.iterations += 1;
    execution.emit({ type: 'iteration:start', iteration: execution.iterations });
    const request = this.request();
    const partial = { characters: 0 };
    this.isCalling = true;
    this.onCall();
    try {
      if (journal !== undefined) {
        journal.runChanged();
        await cancellation.race(journal.flushAndVerifyLease());
      }
      const turn =
        journal === undefined ? {} : { turn: { executionId: execution.executionId, iteration: execution.iterations } };
      return await cancellation.race(this.collect({ ...request, ...turn, signal: cancellation.signal }, partial));
    } catch (thrown) {
      const error = cancellation.signal.aborted ? cancellation.error : thrown;
      this.countLostCall(error, partial.characters);
      if (late.length > 0) execution.emit({ type: 'nonblocking:error', callIds: late, error: describe(error) });
      throw error;
    } finally {
      this.isCalling = false;
    }
  }

  /**
   * Appends what came of the call, and marks what it was told.
   * @param unreported calls whose results stood in the transcript when it was made, beside the late ones
   * @returns the calls that the model makes
   */
  record(response: LLMResponse, late: readonly string[], unreported: readonly string[]): readonly TurnCall[] {
    const { execution, options, provider } = this.context;
    const calls = execution.appendResponse(response);
    execution.markDelivered([...unreported, ...late], response.id);
    if (options.store === true && provider.getCapabilities(options.model).keepsState) {
      this.sent = { responseId: response.id, upTo: execution.transcript.length };
    }
    execution.emit({ type: 'llm:response', iteration: execution.iterations, response });
    if (late.length > 0) execution.emit({ type: 'nonblocking:llm_response', callIds: late, response });
    return calls;
  }

  private request(): GenerateOptions {
    const { execution, options, tools } = this.context;
    const base = execution.iterations === 1 ? options : withoutForcedTool(options);
    const request = buildRequest({
      base,
      transcript: execution.transcript,
      tools: tools.tools,
      ...(this.sent === undefined ? {} : { sent: this.sent }),
    });
    // The transcript holds adopted items only.
    if (typeof request.input !== 'string') adoptInput(request.input as readonly Item[]);
    return request;
  }

  private async collect(request: GenerateOptions, partial: { characters: number }): Promise<LLMResponse> {
    const { execution, provider, stream } = this.context;
    if (!stream) return provider.generate(execution.userId, request);
    for await (const event of provider.stream(execution.userId, request)) {
      switch (event.type) {
        case 'response.output_text.delta':
        case 'response.refusal.delta':
        case 'response.reasoning.delta':
          partial.characters += event.delta.length;
          execution.emit({ type: 'llm:delta', kind: DELTA_KIND[event.type], delta: event.delta });
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

  /** A call that was cut off has cost something, though nobody counted it. */
  private countLostCall(error: unknown, characters: number): void {
    const { execution } = this.context;
    const usage = isLLMError(error) ? error.response?.usage : undefined;
    if (usage !== undefined) execution.usage = addUsage(execution.usage, usage);
    else if (this.cancellation.signal.aborted || error instanceof LLMStreamError || error instanceof LLMTimeoutError) {
      execution.usage = addUsage(execution.usage, estimateUsage(execution.transcript, characters));
    }
  }
}

const DELTA_KIND = {
  'response.output_text.delta': 'text',
  'response.refusal.delta': 'refusal',
  'response.reasoning.delta': 'reasoning',
} as const;

/** A tool that is forced in every turn would never let the model answer; the caller forced the first one. */
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

function describe(error: unknown): { code: LLMError['code']; message: string } {
  return isLLMError(error)
    ? { code: error.code, message: error.message }
    : { code: 'vendor-error', message: 'The model call failed.' };
}
