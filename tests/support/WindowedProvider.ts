/** A provider whose model has a small context window, counts tokens honestly, and refuses what is too long. */
import { LLMContextLengthError } from '../../imports/business/ai/domain/errors/LLMErrors';
import type { ILLMProvider, ModelCapabilities } from '../../imports/business/ai/domain/interfaces/ILLMProvider';
import type { GenerateOptions } from '../../imports/business/ai/domain/types/LLMTypes';
import type { Item, LLMResponse } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../imports/business/ai/domain/types/StreamEvents';
import { SUMMARY_INSTRUCTIONS } from '../../imports/business/ai/application/services/runs/compaction/summarize';
import { CAPABILITIES } from '../../imports/testing/capabilities';
import { answer, eventsOf } from '../../imports/testing/responses';

export type Turn = (items: readonly Item[], options: GenerateOptions, call: number) => LLMResponse;

export class WindowedProvider implements ILLMProvider {
  readonly retriesFailedCalls = true;
  /** What the model was sent, without requests for summaries. */
  readonly requests: (readonly Item[])[] = [];
  readonly summaryRequests: string[] = [];
  /** What it was asked to compact. Each time it makes of it what `compact` says, as a vendor that can. */
  readonly compactRequests: GenerateOptions[] = [];
  compact: ((items: readonly Item[]) => readonly Item[] | Error) | undefined;
  refused = 0;
  readonly window: number;
  private readonly turn: Turn;
  private readonly summarize: (text: string) => LLMResponse | Error;
  private readonly capabilities: ModelCapabilities;

  constructor(
    window: number,
    turn: Turn,
    summarize: (text: string) => LLMResponse | Error = (text) => answer(`Summary ${text.length}`),
    capabilities: Partial<ModelCapabilities> = {},
  ) {
    this.window = window;
    this.turn = turn;
    this.summarize = summarize;
    this.capabilities = { ...CAPABILITIES, maxTokens: window, maxOutputTokens: window / 8, ...capabilities };
  }

  getProviderName(): string {
    return 'windowed';
  }

  getCapabilities(): ModelCapabilities {
    return this.compact === undefined ? this.capabilities : { ...this.capabilities, supportsCompaction: true };
  }

  validateAccess(): Promise<{ valid: boolean }> {
    return Promise.resolve({ valid: true });
  }

  async generate(_userId: string, options: GenerateOptions): Promise<LLMResponse> {
    await Promise.resolve();
    options.signal?.throwIfAborted();
    const tokens = Math.ceil(JSON.stringify([options.input, options.tools, options.instructions]).length / 4);
    if (tokens > this.window) {
      this.refused += 1;
      throw new LLMContextLengthError(`prompt is too long: ${tokens} tokens > ${this.window} maximum`);
    }
    let response: LLMResponse;
    // The loop sends items.
    const items = options.input as readonly Item[];
    if (options.instructions === SUMMARY_INSTRUCTIONS) {
      const text = JSON.stringify(items);
      this.summaryRequests.push(text);
      const summary = this.summarize(text);
      if (summary instanceof Error) throw summary;
      response = summary;
    } else if (options.compact === true) {
      this.compactRequests.push(options);
      const output = this.compact?.(items) ?? [];
      if (output instanceof Error) throw output;
      response = { ...answer(''), output };
    } else {
      this.requests.push(items);
      response = this.turn(items, options, this.requests.length);
    }
    const output_tokens = Math.ceil(JSON.stringify(response.output).length / 4);
    const usage = { ...response.usage, input_tokens: tokens, output_tokens, total_tokens: tokens + output_tokens };
    return { ...response, usage };
  }

  async *stream(userId: string, options: GenerateOptions): AsyncGenerator<ResponseStreamEvent, void, undefined> {
    yield* eventsOf(await this.generate(userId, options));
  }
}
