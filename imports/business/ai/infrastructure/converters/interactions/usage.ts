/** Token counts of the Interactions wire. https://ai.google.dev/api/interactions-api#Resource:Usage */
import { NO_USAGE } from '../../../domain/entities/Response';
import { isObject } from '../../../domain/util/json';
import type { Usage } from '../../../domain/types/ResponsesAPITypes';

/** `total_input_tokens` includes cached tokens, but not those of server tools; `total_output_tokens` no thoughts. */
export function usageOf(usage: unknown, warnings: string[]): Usage {
  if (!isObject(usage)) {
    warnings.push('The response has no usage, so all token counts are zero.');
    return NO_USAGE;
  }
  const count = (field: string): number => {
    const value = Number(usage[field] ?? 0);
    return Number.isFinite(value) && value > 0 ? value : 0;
  };
  const reasoning = count('total_thought_tokens');
  const input = count('total_input_tokens') + count('total_tool_use_tokens');
  const output = count('total_output_tokens') + reasoning;
  return {
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
    input_tokens_details: { cached_tokens: count('total_cached_tokens'), cache_write_tokens: 0 },
    output_tokens_details: { reasoning_tokens: reasoning },
  };
}
