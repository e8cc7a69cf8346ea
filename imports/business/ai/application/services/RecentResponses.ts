/**
 * The answers that a client's own chains go on from, where it was given no other store: bounded, and gone after a
 * while.
 */
import type { ResponseStore, StoredResponse } from '../../domain/interfaces/ResponseStore';
import type { Item } from '../../domain/types/ResponsesAPITypes';
import { LruMap } from './shared/LruMap';

export interface RecentResponsesLimits {
  readonly responses: number;
  /** Milliseconds since the last use. */
  readonly timeToLive: number;
}

export const DEFAULT_RECENT_RESPONSES: RecentResponsesLimits = { responses: 10_000, timeToLive: 24 * 3600 * 1000 };

export class RecentResponses implements ResponseStore {
  private readonly entries: LruMap<string, { readonly stored: StoredResponse; usedAt: number }>;
  private readonly timeToLive: number;
  private readonly now: () => number;

  constructor(limits: Partial<RecentResponsesLimits> = {}, now: () => number = () => performance.now()) {
    const { responses, timeToLive } = { ...DEFAULT_RECENT_RESPONSES, ...limits };
    this.entries = new LruMap(responses);
    this.timeToLive = timeToLive;
    this.now = now;
  }

  save(stored: StoredResponse): Promise<void> {
    this.entries.set(keyOf(stored.userId, stored.id), { stored, usedAt: this.now() });
    return Promise.resolve();
  }

  find(userId: string, id: string): Promise<StoredResponse | undefined> {
    const key = keyOf(userId, id);
    const entry = this.entries.get(key);
    if (entry === undefined) return Promise.resolve(undefined);
    const now = this.now();
    if (entry.usedAt + this.timeToLive <= now) {
      this.entries.delete(key);
      return Promise.resolve(undefined);
    }
    entry.usedAt = now;
    return Promise.resolve(entry.stored);
  }

  async findItem(
    userId: string,
    itemId: string,
  ): Promise<{ readonly item: Item; readonly stored: StoredResponse } | undefined> {
    for (const { stored } of this.entries.values()) {
      const item =
        stored.userId === userId
          ? [...stored.input, ...stored.response.output].find(({ id }) => id === itemId)
          : undefined;
      const found = item === undefined ? undefined : await this.find(userId, stored.id);
      if (item !== undefined && found !== undefined) return { item, stored: found };
    }
    return undefined;
  }

  async remove(userId: string, id: string): Promise<boolean> {
    const isThere = (await this.find(userId, id)) !== undefined;
    this.entries.delete(keyOf(userId, id));
    return isThere;
  }
}

function keyOf(userId: string, id: string): string {
  return JSON.stringify([userId, id]);
}
