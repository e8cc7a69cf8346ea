/** Stores responses in memory, limited in number, size and age. The least recently used are evicted first. */
import type { ResponseStore, StoredResponse } from '../../../domain/interfaces/ResponseStore';
import type { Item } from '../../../domain/types/ResponsesAPITypes';

export interface MemoryResponseStoreOptions {
  /** Default 10,000. */
  readonly maxResponses?: number;
  /** The length of the JSON of all responses, in UTF-16 code units. Default 256 Mi. */
  readonly maxSize?: number;
  /** Milliseconds since a response's last use. Default: 30 days, as at OpenAI. */
  readonly timeToLive?: number;
  /** Milliseconds on any clock. Default: a monotonic one. */
  readonly now?: () => number;
}

interface Entry {
  readonly stored: StoredResponse;
  readonly size: number;
  usedAt: number;
}

export class MemoryResponseStore implements ResponseStore {
  /** Least recently used first. */
  private readonly entries = new Map<string, Entry>();
  /** Item id to the key of the response that contains it. */
  private readonly responseKeys = new Map<string, string>();
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
    this.delete(key);
    const size = JSON.stringify(stored).length;
    this.entries.set(key, { stored, size, usedAt: this.now() });
    this.size += size;
    for (const item of itemsOf(stored)) if (hasId(item)) this.responseKeys.set(keyOf(stored.userId, item.id), key);
    this.evict();
    return Promise.resolve();
  }

  async replace(stored: StoredResponse): Promise<boolean> {
    if (this.touch(keyOf(stored.userId, stored.id)) === undefined) return false;
    await this.save(stored);
    return true;
  }

  find(userId: string, id: string): Promise<StoredResponse | undefined> {
    return Promise.resolve(this.touch(keyOf(userId, id)));
  }

  findItem(
    userId: string,
    itemId: string,
  ): Promise<{ readonly item: Item; readonly stored: StoredResponse } | undefined> {
    const key = this.responseKeys.get(keyOf(userId, itemId));
    const stored = key === undefined ? undefined : this.touch(key);
    const item = stored === undefined ? undefined : itemsOf(stored).find((each) => each.id === itemId);
    return Promise.resolve(stored === undefined || item === undefined ? undefined : { item, stored });
  }

  remove(userId: string, id: string): Promise<boolean> {
    const key = keyOf(userId, id);
    const existed = this.touch(key) !== undefined;
    this.delete(key);
    return Promise.resolve(existed);
  }

  /** Returns a response that has not expired, and marks it as used. */
  private touch(key: string): StoredResponse | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    const now = this.now();
    if (entry.usedAt + this.timeToLive <= now) {
      this.delete(key);
      return undefined;
    }
    entry.usedAt = now;
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry.stored;
  }

  private evict(): void {
    const oldest = this.now() - this.timeToLive;
    for (const [key, { usedAt }] of this.entries) {
      if (usedAt > oldest && this.entries.size <= this.maxResponses && this.size <= this.maxSize) return;
      this.delete(key);
    }
  }

  private delete(key: string): void {
    const entry = this.entries.get(key);
    if (entry === undefined) return;
    this.entries.delete(key);
    this.size -= entry.size;
    for (const item of itemsOf(entry.stored)) {
      if (!hasId(item)) continue;
      const itemKey = keyOf(entry.stored.userId, item.id);
      if (this.responseKeys.get(itemKey) === key) this.responseKeys.delete(itemKey);
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
