/** Ids for responses of providers that don't speak the Responses API. */
import { randomBytes } from 'node:crypto';
import type { Item } from '../../../business/ai/domain/types/ResponsesAPITypes';

const MARK = 'gw';

export function generateResponseId(): string {
  return `resp_${MARK}${randomBytes(16).toString('hex')}`;
}

/** Items of such responses have ids derived from the response's, which no provider knows. */
const GENERATED_ITEM_ID = /^[a-z]+_gw[0-9a-f]{32}_\d+$/;

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
