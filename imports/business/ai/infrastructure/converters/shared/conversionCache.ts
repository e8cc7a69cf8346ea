/**
 * Histories are sent again with every turn and grow at their end, and items never change: what one became is found
 * again by its place. All of a history's are kept with its first item, since an entry in a `WeakMap` of its own
 * costs more than the conversion of most items.
 */
import type { InputItem } from '../../../domain/types/ResponsesAPITypes';

interface Kept<T> {
  readonly items: InputItem[];
  readonly results: T[];
}

/**
 * @param convert looks at nothing but the item. @returns for a history, the same conversion, done once for each of
 * its items
 */
export function cacheByPosition<T>(
  convert: (item: InputItem) => T,
): (history: readonly InputItem[]) => (item: InputItem, index: number) => T {
  const known = new WeakMap<InputItem, Kept<T>>();
  return (history) => {
    const [first] = history;
    const { items, results } = (first === undefined ? undefined : known.get(first)) ?? { items: [], results: [] };
    if (first !== undefined) known.set(first, { items, results });
    return (item, index) => {
      const kept = results[index];
      if (kept !== undefined && items[index] === item) return kept;
      const result = convert(item);
      items[index] = item;
      results[index] = result;
      return result;
    };
  };
}
