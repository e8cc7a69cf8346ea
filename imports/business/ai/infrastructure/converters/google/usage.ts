/** Token counts of the Gemini wire, in both directions. https://ai.google.dev/api/generate-content#UsageMetadata */
import { NO_USAGE } from '../../../domain/entities/Response';
import { isObject } from '../../../domain/util/json';
import type { Usage } from '../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../domain/types/VendorTypes';

/** `promptTokenCount` includes cached tokens, but neither the prompts of server tools nor thoughts. */
export function usageOf(metadata: unknown, warnings: string[]): Usage {
  if (!isObject(metadata)) {
    warnings.push('The response has no usageMetadata, so all token counts are zero.');
    return NO_USAGE;
  }
  const count = (field: string): number => {
    const value = Number(metadata[field] ?? 0);
    return Number.isFinite(value) && value > 0 ? value : 0;
  };
  const reasoning = count('thoughtsTokenCount');
  const input = count('promptTokenCount') + count('toolUsePromptTokenCount');
  const output = count('candidatesTokenCount') + reasoning;
  return {
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
    input_tokens_details: { cached_tokens: count('cachedContentTokenCount'), cache_write_tokens: 0 },
    output_tokens_details: { reasoning_tokens: reasoning },
  };
}

export function toUsageMetadata(usage: Usage): JsonObject {
  const thoughts = usage.output_tokens_details.reasoning_tokens;
  const cached = usage.input_tokens_details.cached_tokens;
  return {
    promptTokenCount: usage.input_tokens,
    candidatesTokenCount: Math.max(0, usage.output_tokens - thoughts),
    ...(thoughts > 0 ? { thoughtsTokenCount: thoughts } : {}),
    ...(cached > 0 ? { cachedContentTokenCount: cached } : {}),
    totalTokenCount: usage.total_tokens,
  };
}
