/**
 * Token counts guessed from text length, for calls that ended before the vendor counted and for budgets that must
 * hold before one.
 */
import type { Item, Usage } from '../../../domain/types/ResponsesAPITypes';

/** English prose and JSON come to about four characters a token on all vendors' tokenisers. */
const CHARACTERS_PER_TOKEN = 4;

const sizes = new WeakMap<Item, number>();

export function estimateTokens(items: readonly Item[]): number {
  let characters = 0;
  for (const item of items) characters += sizeOf(item);
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

/** @param outputCharacters what had arrived of the answer */
export function estimatedUsage(items: readonly Item[], outputCharacters: number): Usage {
  const input_tokens = estimateTokens(items);
  const output_tokens = Math.ceil(outputCharacters / CHARACTERS_PER_TOKEN);
  return {
    input_tokens,
    output_tokens,
    total_tokens: input_tokens + output_tokens,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 0 },
    estimated: true,
  };
}

function sizeOf(item: Item): number {
  const known = sizes.get(item);
  if (known !== undefined) return known;
  const size = JSON.stringify(item).length;
  sizes.set(item, size);
  return size;
}
