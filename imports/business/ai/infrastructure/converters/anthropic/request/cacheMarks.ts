/**
 * Marks up to where a request is cached: at its last tool, at its last system text, at its last message and at the
 * message that was the last one of the request before. A history that only grows is read from the cache that way.
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching
 */
import { keepListJson } from '../../../../domain/util/keptJson';
import type { PromptCache } from '../../../../domain/types/LLMTypes';
import type { InputItem } from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

/** The most marks of one request, including the caller's own. */
export const MAX_MARKS = 4;
const MARKS = {
  '5m': Object.freeze({ type: 'ephemeral' }),
  '1h': Object.freeze({ type: 'ephemeral', ttl: '1h' }),
} as const satisfies Record<string, JsonObject>;
/** The API rejects marks on them. */
const UNMARKABLE: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking']);

export function markOf(cache: 'auto' | PromptCache): JsonObject {
  const { ttl = '5m' } = cache === 'auto' ? {} : cache;
  return MARKS[ttl === '5m' ? '5m' : '1h'];
}

/** The items at the caller's breakpoints, marked. Only messages and results of tools can be. */
export function withBreakpoints(
  items: readonly InputItem[],
  breakpoints: readonly number[],
  mark: JsonObject,
): readonly InputItem[] {
  const marked = new Set(breakpoints.slice(-MAX_MARKS));
  return items.map((item, index) =>
    marked.has(index) && (item.type === 'message' || item.type === 'function_call_output')
      ? { ...item, vendor: { ...item.vendor, anthropic: { ...item.vendor?.anthropic, cache_control: mark } } }
      : item,
  );
}

/** Marks two messages, unless one has a mark already. */
export function withMessageMarks(messages: readonly JsonObject[], mark: JsonObject): readonly JsonObject[] {
  if (messages.some(({ content }) => countMarks(content) > 0)) return messages;
  const marked = messages.slice();
  const last = marked.length - 1;
  const answer = marked.findLastIndex(({ role }) => role === 'assistant');
  const before = marked.findLastIndex(({ role }, index) => index < answer && role !== 'assistant');
  for (const index of [before, last]) {
    const message = marked[index];
    if (message !== undefined) marked[index] = withLastBlockMarked(message, mark);
  }
  return marked;
}

/** The last element of the prompt is marked, unless one is already: deferred tools are no part of it. */
export function withLastMarked(list: readonly JsonObject[], mark: JsonObject): readonly JsonObject[] {
  const index = list.findLastIndex((element) => element.defer_loading !== true);
  const last = list[index];
  if (last === undefined || countMarks(list) > 0) return list;
  const marked = list.with(index, withMark(last, mark));
  keepListJson(marked);
  return marked;
}

export function systemBlocks(system: unknown): readonly JsonObject[] {
  if (typeof system === 'string') return [{ type: 'text', text: system }];
  return Array.isArray(system) ? (system as readonly JsonObject[]) : [];
}

export function countMarks(blocks: unknown): number {
  if (!Array.isArray(blocks)) return 0;
  let count = 0;
  for (const block of blocks as readonly (Partial<JsonObject> | null)[])
    if (block?.cache_control !== undefined) count += 1;
  return count;
}

function withLastBlockMarked(message: JsonObject, mark: JsonObject): JsonObject {
  const { content } = message;
  if (!Array.isArray(content)) return message;
  const blocks = content as readonly JsonObject[];
  const index = blocks.findLastIndex(({ type, text }) => !UNMARKABLE.has(type) && text !== '');
  const block = blocks[index];
  return block === undefined ? message : { ...message, content: blocks.with(index, withMark(block, mark)) };
}

/** Tools are sent with every request, so that each is marked once. */
function withMark(block: JsonObject, mark: JsonObject): JsonObject {
  const known = markedBlocks.get(block);
  if (known?.cache_control === mark) return known;
  const marked = { ...block, cache_control: mark };
  markedBlocks.set(block, marked);
  return marked;
}

const markedBlocks = new WeakMap<JsonObject, JsonObject>();
