/** Stores complete responses, so that a user's repeated request is answered without a model call. */
import type { LLMResponse } from '../types/ResponsesAPITypes';

export interface CachedResponse {
  /** Milliseconds since the epoch. */
  readonly storedAt: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  readonly response: LLMResponse;
}

/** Bounded in size: the oldest entries are evicted. No user finds another user's entries. */
export interface ResponseCache {
  /** @returns undefined for an entry that has expired, or cannot be read */
  find(userId: string, key: string): Promise<CachedResponse | undefined>;
  /** Replaces an entry with the same key. An entry that is too large is not stored. */
  save(userId: string, key: string, cached: CachedResponse): Promise<void>;
}
