/**
 * Token counts estimated from text length: for calls that ended before the vendor reported usage, and for what budgets
 * reserve before a call.
 */
import { CHARACTERS_PER_TOKEN } from '../../../domain/entities/charactersPerToken';
import { isObject } from '../../../domain/util/json';
import type { GenerateOptions } from '../../../domain/types/LLMTypes';
import type { Item, Usage } from '../../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../domain/types/StreamEvents';
import { normalizeInput, normalizeTools } from '../ContentNormalizer';

/** What of a request the model reads. */
export type RequestInput = Pick<GenerateOptions, 'input' | 'instructions' | 'tools' | 'response_format'>;

/** An image takes fewer with nearly every model, however large it is. */
const TOKENS_PER_IMAGE = 3_000;

export function estimateTokens(items: readonly Item[]): number {
  let characters = 0;
  for (const item of items) characters += measure(item).characters;
  return tokensIn(characters);
}

function tokensIn(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

/** Estimates the tokens of all that a request contains. Referenced content, such as a file's, is unknown. */
export function estimateRequestTokens({ input, instructions = '', tools, response_format }: RequestInput): number {
  const shape = response_format === undefined ? 0 : JSON.stringify(response_format).length;
  const offered = tools === undefined ? 0 : JSON.stringify(normalizeTools(tools)).length;
  return estimateTokens(normalizeInput(input)) + tokensIn(instructions.length + shape + offered);
}

/** Whether a request refers to files that are not in it. */
export function refersToFiles(items: readonly Item[]): boolean {
  return items.some((item) => measure(item).refersToFile);
}

/** @param outputCharacters length of the output that arrived */
export function estimateUsage(items: readonly Item[], outputCharacters: number): Usage {
  return estimatedUsage(estimateTokens(items), tokensIn(outputCharacters));
}

export function estimatedUsage(input_tokens: number, output_tokens: number): Usage {
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

  /**
   * @param request its input is for vendors that report usage only at the end
   * @param continuedTokens of the conversation at the vendor that it continues
   */
  estimate(request: RequestInput & Pick<GenerateOptions, 'relayTo'>, continuedTokens = 0): Usage {
    const { reported } = this;
    const characters = this.characters + (request.relayTo?.characters ?? 0);
    const estimated = estimatedUsage(
      reported === undefined ? estimateRequestTokens(request) + continuedTokens : 0,
      tokensIn(characters),
    );
    if (reported === undefined) return estimated;
    const output_tokens = Math.max(reported.output_tokens, estimated.output_tokens);
    return { ...reported, output_tokens, total_tokens: reported.input_tokens + output_tokens, estimated: true };
  }
}

interface Measure {
  /** Characters of the item's JSON, in which an image counts as text of as many tokens. */
  readonly characters: number;
  readonly refersToFile: boolean;
}

/** Items are immutable, so each is measured once. */
const measures = new WeakMap<Item, Measure>();

function measure(item: Item): Measure {
  const cached = measures.get(item);
  if (cached !== undefined) return cached;
  let images = 0;
  let refersToFile = false;
  let json = JSON.stringify(item);
  // Quotes within texts are escaped.
  if (/"type":"input_(?:image|file)"/.test(json))
    json = JSON.stringify(item, (_name, value: unknown) => {
      if (!isObject(value)) return value;
      if (value['type'] === 'input_file') refersToFile ||= value['file_data'] === undefined;
      if (value['type'] !== 'input_image') return value;
      images += 1;
      return undefined;
    });
  const measured = {
    characters: json.length + images * TOKENS_PER_IMAGE * CHARACTERS_PER_TOKEN,
    refersToFile,
  };
  measures.set(item, measured);
  return measured;
}
