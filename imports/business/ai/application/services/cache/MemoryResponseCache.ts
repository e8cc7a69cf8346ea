/** Cached responses in this process's memory. */
import { MAX_CACHED_LENGTH } from '../../../domain/cacheLimits';
import type { CachedResponse, ResponseCache } from '../../../domain/interfaces/ResponseCache';
import type { LLMResponse } from '../../../domain/types/ResponsesAPITypes';
import { LruMap } from '../shared/LruMap';

interface MemoryEntry extends Omit<CachedResponse, 'response'> {
  /** JSON, so that callers share no objects. */
  readonly response: string;
}

const MAX_ENTRIES = 1_000;

export class MemoryResponseCache implements ResponseCache {
  private readonly entries: LruMap<string, MemoryEntry>;
  private readonly now: () => number;

  /** @param options `maxEntries`: default 1,000. `now`: milliseconds since the epoch */
  constructor({
    maxEntries = MAX_ENTRIES,
    now = Date.now,
  }: { readonly maxEntries?: number; readonly now?: () => number } = {}) {
    this.entries = new LruMap(maxEntries);
    this.now = now;
  }

  find(userId: string, key: string): Promise<CachedResponse | undefined> {
    const name = JSON.stringify([userId, key]);
    const entry = this.entries.get(name);
    if (entry === undefined) return Promise.resolve(undefined);
    if (entry.expiresAt <= this.now()) {
      this.entries.delete(name);
      return Promise.resolve(undefined);
    }
    // This class wrote it.
    return Promise.resolve({ ...entry, response: JSON.parse(entry.response) as LLMResponse });
  }

  save(userId: string, key: string, { response, ...times }: CachedResponse): Promise<void> {
    const text = JSON.stringify(response);
    if (text.length <= MAX_CACHED_LENGTH) this.entries.set(JSON.stringify([userId, key]), { ...times, response: text });
    return Promise.resolve();
  }
}
