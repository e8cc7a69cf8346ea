/**
 * Estimates the tokens of a history so that it errs towards too many: what matters is that no request exceeds the
 * window. English takes about four bytes of UTF-8 per token, code and JSON about three, Chinese three.
 */
import type { Item } from '../../../../domain/types/ResponsesAPITypes';
import type { Tool } from '../../../../domain/entities/Tool';
import type { NormalizedOptions } from '../../../../domain/types/LLMTypes';

const BYTES_PER_TOKEN = 3;
/** Only text with long runs of the same character has more. */
const MOST_BYTES_PER_TOKEN = 8;
/** Tokens of roles, names and delimiters. */
const TOKENS_PER_ITEM = 8;
/** An image takes fewer with nearly every model, however large it is. */
const TOKENS_PER_IMAGE = 3_000;

export function historyTokens(items: readonly Item[], from = 0): number {
  let tokens = 0;
  for (let index = from; index < items.length; index += 1) tokens += itemTokens(items[index] as Item);
  return tokens;
}

export function itemTokens(item: Item): number {
  switch (item.type) {
    case 'message':
      return TOKENS_PER_ITEM + partsTokens(item.content);
    case 'function_call':
      return TOKENS_PER_ITEM + textTokens(item.name) + textTokens(item.arguments);
    case 'function_call_output':
      return TOKENS_PER_ITEM + (typeof item.output === 'string' ? textTokens(item.output) : partsTokens(item.output));
    case 'reasoning':
    case 'compaction':
    case 'vendor_item':
    default:
      return TOKENS_PER_ITEM + textTokens(JSON.stringify(item));
  }
}

/** Estimates the tokens of what precedes the history in a request. */
export function prefixTokens({ instructions = '', tools, response_format }: Partial<NormalizedOptions>): number {
  return (
    textTokens(instructions) +
    (tools === undefined ? 0 : toolsTokens(tools)) +
    (response_format === undefined ? 0 : textTokens(JSON.stringify(response_format)))
  );
}

/** By tool: the bytes of its JSON. The same definitions are offered by run after run. */
const toolBytes = new WeakMap<Tool, number>();

function toolsTokens(tools: readonly Tool[]): number {
  // The brackets of the list, and the commas between its elements.
  let bytes = Math.max(2, tools.length + 1);
  for (const tool of tools) {
    let own = toolBytes.get(tool);
    if (own === undefined) toolBytes.set(tool, (own = Buffer.byteLength(JSON.stringify(tool))));
    bytes += own;
  }
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

export function textTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

/** Returns the fewest tokens that the texts of a request can take. How vendors count images and files is unknown. */
export function leastTextTokens(prefix: Partial<NormalizedOptions>, items: readonly Item[]): number {
  let tokens = prefixTokens(prefix);
  for (const item of items)
    if (item.type === 'message') tokens += partsTokens(item.content.filter((part) => 'text' in part));
    else if (item.type === 'function_call') tokens += textTokens(item.arguments);
    else if (item.type === 'function_call_output' && typeof item.output === 'string') tokens += textTokens(item.output);
  return Math.floor((tokens * BYTES_PER_TOKEN) / MOST_BYTES_PER_TOKEN);
}

function partsTokens(parts: readonly { readonly type: string }[]): number {
  let tokens = 0;
  for (const part of parts) {
    if ('text' in part && typeof part.text === 'string') tokens += textTokens(part.text);
    else if (part.type === 'input_image') tokens += TOKENS_PER_IMAGE;
    else tokens += textTokens(JSON.stringify(part));
  }
  return tokens;
}
