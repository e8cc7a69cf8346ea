/** Ids for responses of providers that don't speak the Responses API, and for items without one. */
import type { Item } from '../../../business/ai/domain/types/ResponsesAPITypes';
import { randomHex } from '../../http/randomHex';

const MARK = 'gw';

export function generateResponseId(): string {
  return `resp_${MARK}${randomHex(16)}`;
}

/** An id for an item of a conversation. */
export function generateItemId({ type }: Item): string {
  return `${prefixOf(type)}_${MARK}${randomHex(16)}_0`;
}

/** Items of such responses have ids derived from the response's, which no provider knows. */
const GENERATED_ITEM_ID = /^[a-z]+_(?:gw[0-9a-f]{32}_\d+|gwin\d+_.+)$/;
const INPUT_ITEM_ID = /^[a-z]+_gwin(?<index>\d{1,9})_(?<responseId>.+)$/;

const PREFIXES: ReadonlyMap<string, string> = new Map([
  ['message', 'msg'],
  ['function_call', 'fc'],
  ['function_call_output', 'fco'],
  ['reasoning', 'rs'],
  ['compaction', 'cmp'],
]);

/** The id of an item that came without one in the input of a response. */
export function inputItemId(responseId: string, { id, type }: Item, index: number): string {
  return id ?? `${prefixOf(type)}_${MARK}in${index}_${responseId}`;
}

/** @returns where the item with an id of `inputItemId` is */
export function parseInputItemId(id: string): { readonly responseId: string; readonly index: number } | undefined {
  const { index, responseId } = INPUT_ITEM_ID.exec(id)?.groups ?? {};
  return index === undefined || responseId === undefined ? undefined : { responseId, index: Number(index) };
}

function prefixOf(type: string): string {
  return PREFIXES.get(type) ?? 'item';
}

// Items are immutable, and converters cache their conversions by identity, so the result is cached too.
const withoutIds = new WeakMap<Item, Item>();

/** The item without a generated id, which its provider would not recognize. */
export function withoutGeneratedId(item: Item): Item {
  if (item.id === undefined || !GENERATED_ITEM_ID.test(item.id)) return item;
  const cached = withoutIds.get(item);
  if (cached !== undefined) return cached;
  const { id: _, ...rest } = item;
  // The id is optional in every type of item.
  const bare = rest as Item;
  withoutIds.set(item, bare);
  return bare;
}
