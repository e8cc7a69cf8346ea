/**
 * Token counts estimated from text length: for calls that ended before the vendor reported usage, and for budgets that
 * must be reserved before a call.
 */
import { CHARACTERS_PER_TOKEN } from '../../../domain/charactersPerToken';
import type { GenerateOptions } from '../../../domain/types/LLMTypes';
import type { Item, Usage } from '../../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../domain/types/StreamEvents';
import { normalizeInput } from '../ContentNormalizer';

export function estimateTokens(items: readonly Item[]): number {
  let characters = 0;
  for (const item of items) characters += lengthOf(item);
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

/** @param outputCharacters length of the output that arrived */
export function estimateUsage(items: readonly Item[], outputCharacters: number): Usage {
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

/**
 * Usage of a stream that was abandoned or broke before its response was complete: the last usage that the vendor
 * reported, plus an estimate of the output that arrived.
 */
export class PartialUsage {
  private characters = 0;
  private reported: Usage | undefined;

  add(event: ResponseStreamEvent): void {
    if ('delta' in event) this.characters += event.delta.length;
    else if (event.type === 'response.usage') this.reported = event.usage;
    else if (event.type === 'response.tool_use.done') this.characters += event.item.arguments.length;
  }

  /** @param request its input is for vendors that report usage only at the end */
  estimate({ input, relayTo }: Pick<GenerateOptions, 'input' | 'relayTo'>): Usage {
    const { reported } = this;
    const characters = this.characters + (relayTo?.characters ?? 0);
    const estimated = estimateUsage(reported === undefined ? normalizeInput(input) : [], characters);
    if (reported === undefined) return estimated;
    const output_tokens = Math.max(reported.output_tokens, estimated.output_tokens);
    return { ...reported, output_tokens, total_tokens: reported.input_tokens + output_tokens, estimated: true };
  }
}

/** Items are immutable, so each is measured once. */
const lengths = new WeakMap<Item, number>();

function lengthOf(item: Item): number {
  const cached = lengths.get(item);
  if (cached !== undefined) return cached;
  const length = JSON.stringify(item).length;
  lengths.set(item, length);
  return length;
}
