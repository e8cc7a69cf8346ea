/** Cached responses in this process's memory. */
import { MAX_CACHED_LENGTH } from '../../../../domain/entities/cacheLimits';
import type { CachedResponse, ResponseCache } from '../../../../domain/interfaces/ResponseCache';
import type { LLMResponse } from '../../../../domain/types/ResponsesAPITypes';
import { FairLruMap } from '../../../../domain/util/FairLruMap';

interface MemoryEntry extends Omit<CachedResponse, 'response'> {
  /** JSON, so that callers share no objects. */
  readonly response: string;
}

const MAX_ENTRIES = 1_000;
/** Characters of one user's responses, and of all. */
const MAX_SIZE_PER_USER = 16 * 1024 * 1024;
const MAX_SIZE = 128 * 1024 * 1024;

export class MemoryResponseCache implements ResponseCache {
  private readonly entries: FairLruMap<MemoryEntry>;
  private readonly now: () => number;

  /** @param options `maxEntries`: of one user, default 1,000. `now`: milliseconds since the epoch */
  constructor({
    maxEntries = MAX_ENTRIES,
    now = Date.now,
  }: { readonly maxEntries?: number; readonly now?: () => number } = {}) {
    this.entries = new FairLruMap(
      { entries: 10 * maxEntries, entriesPerUser: maxEntries, size: MAX_SIZE, sizePerUser: MAX_SIZE_PER_USER },
      { sizeOf: ({ response }) => response.length },
    );
    this.now = now;
  }

  find(userId: string, key: string): Promise<CachedResponse | undefined> {
    const entry = this.entries.get(userId, key);
    if (entry === undefined) return Promise.resolve(undefined);
    if (entry.expiresAt <= this.now()) {
      this.entries.delete(userId, key);
      return Promise.resolve(undefined);
    }
    // This class wrote it.
    return Promise.resolve({ ...entry, response: JSON.parse(entry.response) as LLMResponse });
  }

  save(userId: string, key: string, { response, ...times }: CachedResponse): Promise<void> {
    const text = JSON.stringify(response);
    if (text.length <= MAX_CACHED_LENGTH) this.entries.set(userId, key, { ...times, response: text });
    return Promise.resolve();
  }
}
