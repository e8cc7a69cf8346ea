/**
 * Caches of converted items. A history is sent again with every turn, grows only at its end, and its items are
 * immutable, so each of them is converted once.
 */
import type { InputItem } from '../../../domain/types/ResponsesAPITypes';
import type { WireContext } from '../Wire';

interface ConvertedHistory<T> {
  readonly items: InputItem[];
  readonly results: T[];
}

/**
 * For conversions that depend on nothing but the item. All results of a history are stored under its first item and
 * found by position: a `WeakMap` entry per item would cost more than converting most items.
 */
export function cacheByPosition<T>(
  convert: (item: InputItem) => T,
): (history: readonly InputItem[]) => (item: InputItem, index: number) => T {
  const histories = new WeakMap<InputItem, ConvertedHistory<T>>();
  return (history) => {
    const [first] = history;
    const { items, results } = (first === undefined ? undefined : histories.get(first)) ?? { items: [], results: [] };
    if (first !== undefined) histories.set(first, { items, results });
    return (item, index) => {
      const cached = results[index];
      if (cached !== undefined && items[index] === item) return cached;
      const result = convert(item);
      items[index] = item;
      results[index] = result;
      return result;
    };
  };
}

/**
 * For conversions that also depend on a context, such as a vendor's quirks. Only the result for the last context is
 * stored.
 * @param isSame whether both contexts lead to the same result
 */
export function cacheByItem<I extends object, C, T>(
  convert: (item: I, context: C, path: () => string) => T,
  isSame: (before: C, now: C) => boolean,
): (item: I, context: C, path: () => string) => T {
  const conversions = new WeakMap<I, { readonly context: C; readonly result: T }>();
  return (item, context, path) => {
    const cached = conversions.get(item);
    if (cached !== undefined && isSame(cached.context, context)) return cached.result;
    const result = convert(item, context, path);
    conversions.set(item, { context, result });
    return result;
  };
}

/** Whether both requests go to one vendor with the same quirks. */
export function isSameVendor(before: WireContext, now: WireContext): boolean {
  return before.quirks === now.quirks && before.vendor === now.vendor;
}
