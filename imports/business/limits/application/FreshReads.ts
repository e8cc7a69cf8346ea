/** What is read of a store by a key, and read again when it is older than `MAX_AGE_MS`. */
import { LRUCache } from 'lru-cache';
import { isStoreOutage } from '../../ai/domain/errors/LLMErrors';
import { growingCapacity } from '../../ai/domain/util/growingCapacity';

export interface Reading<V> {
  readonly readAt: number;
  readonly value: Promise<V>;
  /** Set once it has been read. */
  known?: { readonly value: V };
}

/** How long a process relies on what it has read. */
export const MAX_AGE_MS = 2_000;
const MAX_CACHED = 10_000;

export class FreshReads<K extends string | symbol, V> {
  private readonly load: (key: K) => Promise<V>;
  private readonly clock: () => number;
  private readonly cache = new LRUCache<K, Reading<V>>(growingCapacity(MAX_CACHED));

  /** @param clock milliseconds, never runs backwards */
  constructor(load: (key: K) => Promise<V>, clock: () => number) {
    this.load = load;
    this.clock = clock;
  }

  /** During an outage, in which nobody can change it, what was read before still applies. */
  read(key: K): Reading<V> {
    const cached = this.cache.get(key);
    const now = this.clock();
    if (cached !== undefined && now - cached.readAt < MAX_AGE_MS) return cached;
    const value = this.load(key).catch((error: unknown) => {
      if (isStoreOutage(error) && cached !== undefined) return cached.value;
      throw error;
    });
    const reading: Reading<V> = { readAt: now, value };
    this.cache.set(key, reading);
    value.then(
      (known) => (reading.known = { value: known }),
      () => {
        if (this.cache.peek(key) === reading) this.cache.delete(key);
      },
    );
    return reading;
  }

  /** Reads it again with the next call. */
  forget(key: K): void {
    this.cache.delete(key);
  }
}
