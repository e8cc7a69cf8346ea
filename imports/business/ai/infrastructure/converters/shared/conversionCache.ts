/**
 * Caches of converted items. A history is sent again with every turn, grows only at its end, and its items are
 * immutable, so each of them is converted once.
 */
import { keepJson } from '../../../domain/util/keptJson';
import type { InputItem } from '../../../domain/types/ResponsesAPITypes';
import type { WireContext } from '../Wire';
import { GrowingJson } from './GrowingJson';

/**
 * What is kept of a conversation between its requests. The conversions depend on nothing but the item, and are found by
 * position: a `WeakMap` entry per item would cost more than converting most items.
 */
class ConvertedHistory<T, W extends object> {
  private readonly items: InputItem[] = [];
  private readonly results: T[] = [];
  private readonly json = new GrowingJson();
  private written: readonly W[] = [];
  private readonly toResult: (item: InputItem) => T;

  constructor(toResult: (item: InputItem) => T) {
    this.toResult = toResult;
  }

  convert(item: InputItem, index: number): T {
    const cached = this.results[index];
    if (cached !== undefined && this.items[index] === item) return cached;
    const result = this.toResult(item);
    this.items[index] = item;
    this.results[index] = result;
    return result;
  }

  /** What the previous request had at that place of its list. */
  writtenAt(index: number): W | undefined {
    return this.written[index];
  }

  /** Keeps the list that the request sends, and its JSON. */
  keepWritten(list: readonly W[]): void {
    this.written = list;
    keepJson(list, this.json.write(list));
  }
}

/** The interface of a `ConvertedHistory` for a request after which nothing is kept. */
type History<T, W extends object> = Pick<ConvertedHistory<T, W>, 'convert' | 'writtenAt' | 'keepWritten'>;

/** Conversations of which something is kept: those that began last. A run may wait for days between two requests. */
const MAX_HISTORIES = 1_000;

/**
 * Finds what is kept of a conversation by its first item. Nothing is kept of a first request: most conversations have
 * one only, and the value of a `WeakMap` outlives every minor garbage collection.
 */
export function keepHistories<T, W extends object>(
  convert: (item: InputItem) => T,
): (history: readonly InputItem[]) => History<T, W> {
  const histories = new WeakMap<InputItem, ConvertedHistory<T, W>>();
  const begun = new WeakSet<InputItem>();
  /** The first items of the conversations that are kept. Once it is full, the oldest is replaced. */
  const kept: WeakRef<InputItem>[] = [];
  let next = 0;
  const unkept: History<T, W> = { convert, writtenAt: () => undefined, keepWritten: () => undefined };
  return ([first]) => {
    if (first === undefined) return unkept;
    let history = histories.get(first);
    if (history !== undefined) return history;
    if (!begun.has(first)) {
      begun.add(first);
      return unkept;
    }
    history = new ConvertedHistory<T, W>(convert);
    histories.set(first, history);
    const oldest = kept[next]?.deref();
    if (oldest !== undefined) histories.delete(oldest);
    kept[next] = new WeakRef(first);
    next = (next + 1) % MAX_HISTORIES;
    return history;
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
