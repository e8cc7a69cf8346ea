/** What an embedded database does with the indexes that a collection has: MongoDB does it itself. */
import type { Selector } from '../DocumentCollection';
import type { IndexOptions } from './parseIndex';

export interface KnownIndex {
  /** Without `_id`, in the order of their names. */
  readonly keys: readonly string[];
  readonly options: IndexOptions;
}

export function isSameIndex(left: IndexOptions, right: IndexOptions): boolean {
  return (
    left.unique === right.unique && left.sparse === right.sparse && left.expireAfterSeconds === right.expireAfterSeconds
  );
}

/**
 * One selector for each index that expires documents.
 * @param now milliseconds since the epoch
 */
export function selectExpired(indexes: Iterable<KnownIndex>, now: number): readonly Selector[] {
  const selectors: Selector[] = [];
  for (const { keys, options } of indexes) {
    const [field] = keys;
    if (field === undefined || options.expireAfterSeconds === undefined) continue;
    selectors.push({ [field]: { $lt: new Date(now - options.expireAfterSeconds * 1000) } });
  }
  return selectors;
}
