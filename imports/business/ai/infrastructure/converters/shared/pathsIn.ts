/** The paths of items, for losses and errors. */
import type { InputItem } from '../../../domain/types/ResponsesAPITypes';

/**
 * Nothing is read until the first path is asked for.
 * @param original the caller's input
 * @param repaired what is sent; items that the repair inserted are named by their position in it
 * @returns the path of an item in the caller's input
 */
export function pathsIn(
  original: readonly InputItem[],
  repaired: readonly InputItem[] = original,
): (item: InputItem) => string {
  let indexes: Map<InputItem, number> | undefined;
  return (item) => {
    indexes ??= indexesOf(repaired, original);
    const index = indexes.get(item);
    return index === undefined ? 'input' : `input[${index}]`;
  };
}

/** Maps each item to its first index in the last list that has it. */
function indexesOf(...lists: readonly (readonly InputItem[])[]): Map<InputItem, number> {
  const indexes = new Map<InputItem, number>();
  for (const list of lists) {
    const known = new Set<InputItem>();
    for (const [at, item] of list.entries()) {
      if (!known.has(item)) indexes.set(item, at);
      known.add(item);
    }
  }
  return indexes;
}
