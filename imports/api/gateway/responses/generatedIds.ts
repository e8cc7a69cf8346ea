/** Ids of responses that no Responses host named: ours, so that two of them are never the same. */
import { randomBytes } from 'node:crypto';
import type { Item } from '../../../business/ai/domain/types/ResponsesAPITypes';

const MARK = 'gw';

export function generateResponseId(): string {
  return `resp_${MARK}${randomBytes(16).toString('hex')}`;
}

/** Items of such responses get ids made of theirs; no host has heard of them. */
const GENERATED_ITEM_ID = /^[a-z]+_gw[0-9a-f]{32}_\d+$/;

// Items never change, and converters remember what they made of each.
const without = new WeakMap<Item, Item>();

/** The item as its host would know it. */
export function withoutGeneratedId(item: Item): Item {
  if (item.id === undefined || !GENERATED_ITEM_ID.test(item.id)) return item;
  const known = without.get(item);
  if (known !== undefined) return known;
  const { id: _, ...rest } = item;
  // Every kind of item may be without its id.
  const bare = rest as Item;
  without.set(item, bare);
  return bare;
}
