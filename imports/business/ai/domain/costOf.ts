/** What token counts cost, by a model's listed price. */
import type { ModelCapabilities } from './interfaces/ILLMProvider';
import type { Usage } from './types/ResponsesAPITypes';

/** @returns US dollars */
export function costOf(
  usage: Pick<Usage, 'input_tokens' | 'output_tokens' | 'input_tokens_details'>,
  price: NonNullable<ModelCapabilities['price']>,
): number {
  const { cached_tokens } = usage.input_tokens_details;
  const input = (usage.input_tokens - cached_tokens) * price.input + cached_tokens * (price.cached ?? price.input);
  return (input + usage.output_tokens * price.output) / 1_000_000;
}
