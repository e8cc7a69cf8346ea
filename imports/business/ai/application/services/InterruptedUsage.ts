/**
 * What a stream has cost that was left, or broke, before its vendor counted: the vendor's last count, and a guess
 * at what came after it.
 */
import type { LLMInput } from '../../domain/types/LLMTypes';
import type { Usage } from '../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../domain/types/StreamEvents';
import { normalizeInput } from './ContentNormalizer';
import { estimatedUsage } from './routing/estimateUsage';

export class PartialUsage {
  private characters = 0;
  private counted: Usage | undefined;

  add(event: ResponseStreamEvent): void {
    if ('delta' in event) this.characters += event.delta.length;
    else if (event.type === 'response.usage') this.counted = event.usage;
    else if (event.type === 'response.tool_use.done') this.characters += event.item.arguments.length;
  }

  /** @param input what was asked, for vendors that count at the end only */
  estimate(input: LLMInput): Usage {
    const { counted } = this;
    const guess = estimatedUsage(counted === undefined ? normalizeInput(input) : [], this.characters);
    if (counted === undefined) return guess;
    const output_tokens = Math.max(counted.output_tokens, guess.output_tokens);
    return { ...counted, output_tokens, total_tokens: counted.input_tokens + output_tokens, estimated: true };
  }
}
