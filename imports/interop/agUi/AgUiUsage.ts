/** The tokens of the model calls of one AG-UI run, by vendor and model. */
import type { LLMResponse } from '../../business/ai/domain/types/ResponsesAPITypes';
import type { AgUiTokenUsage } from './AgUiEvents';

export class AgUiUsage {
  private readonly sums = new Map<string, AgUiTokenUsage>();

  add({ usage, model, vendor }: Pick<LLMResponse, 'usage' | 'model' | 'vendor'>): void {
    const key = `${vendor.name} ${model}`;
    const before = this.sums.get(key);
    const sum = (field: keyof AgUiTokenUsage, tokens: number): number => Number(before?.[field] ?? 0) + tokens;
    this.sums.set(key, {
      provider: vendor.name,
      model,
      inputTokens: sum('inputTokens', usage.input_tokens),
      outputTokens: sum('outputTokens', usage.output_tokens),
      // The protocol defines it as the sum of the two.
      totalTokens: sum('totalTokens', usage.input_tokens + usage.output_tokens),
      reasoningTokens: sum('reasoningTokens', usage.output_tokens_details.reasoning_tokens),
      cachedInputTokens: sum('cachedInputTokens', usage.input_tokens_details.cached_tokens),
      cacheWriteInputTokens: sum('cacheWriteInputTokens', usage.input_tokens_details.cache_write_tokens),
    });
  }

  /** The `usage` of the event that ends the run. */
  get fields(): { readonly usage?: AgUiTokenUsage[] } {
    return this.sums.size === 0 ? {} : { usage: [...this.sums.values()] };
  }
}
