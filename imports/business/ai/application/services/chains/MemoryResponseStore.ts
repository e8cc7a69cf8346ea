/** Stored responses of one process: bounded in number, size and time, the least recently used go first. */
import type { ResponseStore, StoredResponse } from '../../../domain/interfaces/ResponseStore';
import type { Item } from '../../../domain/types/ResponsesAPITypes';

export interface MemoryResponseStoreOptions {
  /** Default 10,000. */
  readonly maxResponses?: number;
  /** Of all JSON together, in UTF-16 units. Default 256 Mi. */
  readonly maxSize?: number;
  /** Milliseconds since its last use. Default 30 days, as OpenAI keeps them. */
  readonly timeToLive?: number;
  /** Milliseconds since any moment. Default: a clock that never jumps. */
  readonly now?: () => number;
}

interface Entry {
  readonly stored: StoredResponse;
  readonly size: number;
  usedAt: number;
}

export class MemoryResponseStore implements ResponseStore {
  /** The least recently used first. */
  private readonly entries = new Map<string, Entry>();
  /** Items' ids, to the response that they are in. */
  private readonly places = new Map<string, string>();
  private readonly maxResponses: number;
  private readonly maxSize: number;
  private readonly timeToLive: number;
  private readonly now: () => number;
  private size = 0;

  constructor({
    maxResponses = 10_000,
    maxSize = 256 * 1024 * 1024,
    timeToLive = 30 * 24 * 3600 * 1000,
    now = () => performance.now(),
  }: MemoryResponseStoreOptions = {}) {
    this.maxResponses = maxResponses;
    this.maxSize = maxSize;
    this.timeToLive = timeToLive;
    this.now = now;
  }

  save(stored: StoredResponse): Promise<void> {
    const key = keyOf(stored.userId, stored.id);
    this.forget(key);
    const size = JSON.stringify(stored).length;
    this.entries.set(key, { stored, size, usedAt: this.now() });
    this.size += size;
    for (const item of itemsOf(stored)) if (hasId(item)) this.places.set(keyOf(stored.userId, item.id), key);
    this.shrink();
    return Promise.resolve();
  }

  find(userId: string, id: string): Promise<StoredResponse | undefined> {
    return Promise.resolve(this.use(keyOf(userId, id)));
  }

  findItem(
    userId: string,
    itemId: string,
  ): Promise<{ readonly item: Item; readonly stored: StoredResponse } | undefined> {
    const place = this.places.get(keyOf(userId, itemId));
    const stored = place === undefined ? undefined : this.use(place);
    const item = stored === undefined ? undefined : itemsOf(stored).find((each) => each.id === itemId);
    return Promise.resolve(stored === undefined || item === undefined ? undefined : { item, stored });
  }

  remove(userId: string, id: string): Promise<boolean> {
    const key = keyOf(userId, id);
    const isThere = this.use(key) !== undefined;
    this.forget(key);
    return Promise.resolve(isThere);
  }

  private use(key: string): StoredResponse | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    const now = this.now();
    if (entry.usedAt + this.timeToLive <= now) {
      this.forget(key);
      return undefined;
    }
    entry.usedAt = now;
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry.stored;
  }

  private shrink(): void {
    const oldest = this.now() - this.timeToLive;
    for (const [key, { usedAt }] of this.entries) {
      if (usedAt > oldest && this.entries.size <= this.maxResponses && this.size <= this.maxSize) return;
      this.forget(key);
    }
  }

  private forget(key: string): void {
    const entry = this.entries.get(key);
    if (entry === undefined) return;
    this.entries.delete(key);
    this.size -= entry.size;
    for (const item of itemsOf(entry.stored)) {
      if (!hasId(item)) continue;
      const place = keyOf(entry.stored.userId, item.id);
      if (this.places.get(place) === key) this.places.delete(place);
    }
  }
}

function itemsOf({ input, response }: StoredResponse): readonly Item[] {
  return [...input, ...response.output];
}

function hasId(item: Item): item is Item & { readonly id: string } {
  return item.id !== undefined;
}

function keyOf(userId: string, id: string): string {
  return JSON.stringify([userId, id]);
}
