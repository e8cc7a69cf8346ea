/**
 * Limits how much a key may use in a fixed window of time. The counters are in the store, so the limits hold for all
 * processes together.
 */
import type { DocumentCollection, StoredDocument } from './DocumentCollection';
import { insertNew } from './insertNew';

/** One key's counters `C` in one window. */
export type WindowDocument<C extends string = 'count'> = StoredDocument &
  Readonly<Record<C, number>> & { readonly expiresAt: Date };

export const WINDOWS_COLLECTION = 'ai_rate_windows';

const PAGE_SIZE = 1_000;

export class FixedWindowLimiter<C extends string = 'count'> {
  private readonly collection: DocumentCollection<WindowDocument<C>>;
  private readonly counters: readonly [C, ...C[]];
  private readonly now: () => number;

  /**
   * @param counters the names of a window's counters; `admit` increments the first
   * @param now milliseconds since the epoch
   */
  constructor(
    collection: DocumentCollection<WindowDocument<C>>,
    counters: readonly [C, ...C[]],
    now: () => number = Date.now,
  ) {
    this.collection = collection;
    this.counters = counters;
    this.now = now;
  }

  /** Creates the index that deletes past windows. Idempotent. */
  async ready(): Promise<void> {
    await this.collection.ensureIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  }

  /**
   * Increments the first counter, unless a counter has reached its limit. Counters without a limit are unlimited.
   * @returns 0 if admitted, otherwise the milliseconds until the next window
   */
  async admit(key: readonly string[], limits: Readonly<Partial<Record<C, number>>>, windowMs: number): Promise<number> {
    const { _id, end } = this.window(key, windowMs);
    const limited = this.counters.flatMap((counter) => {
      const limit = limits[counter];
      return limit === undefined ? [] : [{ counter, limit }];
    });
    const belowLimits = Object.fromEntries(limited.map(({ counter, limit }) => [counter, { $lt: limit }]));
    const increment = (): Promise<number> =>
      this.collection.update({ _id, ...belowLimits }, { $inc: { [this.counters[0]]: 1 } });
    if ((await increment()) === 1) return 0;
    const found = await this.collection.findOne({ _id });
    if (found === undefined) await this.open(_id, end);
    // If another process has opened the window meanwhile, it may still have room.
    const hasRoom = found === undefined || limited.every(({ counter, limit }) => found[counter] < limit);
    if (hasRoom && (await increment()) === 1) return 0;
    return Math.max(end - this.now(), 1);
  }

  /** Adds to a counter without checking its limit: for amounts that are known only after the use. */
  async add(key: readonly string[], counter: C, amount: number, windowMs: number): Promise<void> {
    const { _id, end } = this.window(key, windowMs);
    const increment = (): Promise<number> => this.collection.update({ _id }, { $inc: { [counter]: amount } });
    // Mostly, `admit` has opened the window.
    if ((await increment()) === 1) return;
    await this.open(_id, end);
    await increment();
  }

  /** Removes the windows of all keys that match. @returns how many there were */
  remove(matches: (key: readonly string[]) => boolean): Promise<number> {
    return this.removeById((id) => matches(keyOfWindow(id)));
  }

  /** Removes the windows whose ids match. @returns how many there were */
  async removeById(matches: (id: string) => boolean): Promise<number> {
    let removed = 0;
    for (let last = ''; ;) {
      // Keys are not indexed by their parts, but windows expire, so there are not many.
      const page = await this.collection.find(
        { _id: { $gt: last } },
        { sort: { _id: 1 }, limit: PAGE_SIZE, fields: { _id: 1 } },
      );
      const ids = page.map(({ _id }) => _id).filter(matches);
      if (ids.length > 0) removed += await this.collection.remove({ _id: { $in: ids } });
      const next = page.at(-1)?._id;
      if (next === undefined || page.length < PAGE_SIZE) return removed;
      last = next;
    }
  }

  private window(key: readonly string[], windowMs: number): { readonly _id: string; readonly end: number } {
    const start = Math.floor(this.now() / windowMs) * windowMs;
    return { _id: [...key, String(start)].map(encodeURIComponent).join('/'), end: start + windowMs };
  }

  private async open(_id: string, end: number): Promise<void> {
    const zeros = Object.fromEntries(this.counters.map((counter) => [counter, 0]));
    // The computed keys are exactly the counters. Another process may have opened it already.
    await insertNew(this.collection, { _id, ...zeros, expiresAt: new Date(end) } as WindowDocument<C>);
  }
}

/** The key of a window, from its id. */
export function keyOfWindow(id: string): readonly string[] {
  return id.split('/').slice(0, -1).map(decodeURIComponent);
}
