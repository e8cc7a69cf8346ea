/** Cached responses in a document collection, which all processes share. Bounded per user in number. */
import { createHash } from 'node:crypto';
import { MAX_CACHED_LENGTH } from '../../../domain/cacheLimits';
import { consoleLogger } from '../../../domain/consoleLogger';
import { isLLMError } from '../../../domain/errors/LLMErrors';
import { isList, isObject } from '../../../domain/json';
import type { DocumentCollection, StoredDocument } from '../../../domain/interfaces/DocumentCollection';
import type { Logger } from '../../../domain/interfaces/Logger';
import type { CachedResponse, ResponseCache } from '../../../domain/interfaces/ResponseCache';
import type { LLMResponse } from '../../../domain/types/ResponsesAPITypes';
import type { DocumentDatabase } from '../databases/DocumentDatabase';

export interface CachedResponseDocument extends StoredDocument {
  readonly userId: string;
  /** Milliseconds since the epoch. */
  readonly storedAt: number;
  readonly expiresAt: Date;
  /** JSON of the response. */
  readonly response: string;
  /** Characters of the response. Absent from entries of earlier versions. */
  readonly length?: number;
}

export interface DocumentResponseCacheOptions {
  /** Per user; the oldest are evicted. Default: 1,000. */
  readonly maxEntries?: number;
  /** Characters per user; the oldest are evicted. Default: 64 MiB. */
  readonly maxLength?: number;
  /** Receives entries that cannot be read. Default: the console. */
  readonly logger?: Logger;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

export const RESPONSE_CACHE = 'ai_response_cache';

const MAX_ENTRIES = 1_000;
const MAX_LENGTH = 64 * 1024 * 1024;
/** How many saves of a user pass between two counts of the user's entries, or what part of all characters. */
const SAVES_PER_COUNT = 50;
const COUNTED_PART = 1 / 16;
const MAX_COUNTED_USERS = 10_000;

/** Creates the cache and its indexes. */
export async function openResponseCache(
  database: Pick<DocumentDatabase, 'collection'>,
  options?: DocumentResponseCacheOptions,
): Promise<DocumentResponseCache> {
  const entries = database.collection<CachedResponseDocument>(RESPONSE_CACHE);
  await entries.ensureIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  await entries.ensureIndex({ userId: 1, storedAt: 1 });
  return new DocumentResponseCache(entries, options);
}

export class DocumentResponseCache implements ResponseCache {
  private readonly entries: DocumentCollection<CachedResponseDocument>;
  private readonly maxEntries: number;
  private readonly maxLength: number;
  private readonly logger: Logger;
  private readonly now: () => number;
  /** By user, for the most recent users. */
  private readonly savedSinceCount = new Map<string, { readonly saves: number; readonly length: number }>();

  constructor(
    entries: DocumentCollection<CachedResponseDocument>,
    {
      maxEntries = MAX_ENTRIES,
      maxLength = MAX_LENGTH,
      logger = consoleLogger,
      now = Date.now,
    }: DocumentResponseCacheOptions = {},
  ) {
    this.entries = entries;
    this.maxEntries = maxEntries;
    this.maxLength = maxLength;
    this.logger = logger;
    this.now = now;
  }

  async find(userId: string, key: string): Promise<CachedResponse | undefined> {
    const found = await this.entries.findOne({ _id: idOf(userId, key) });
    // Databases remove expired documents with a delay.
    if (found === undefined || found.expiresAt.getTime() <= this.now()) return undefined;
    const response = responseIn(found.response);
    if (response === undefined) {
      this.logger.warn('A cached response cannot be read and was ignored.', { userId, id: found._id });
      return undefined;
    }
    return { storedAt: found.storedAt, expiresAt: found.expiresAt.getTime(), response };
  }

  async save(userId: string, key: string, { storedAt, expiresAt, response }: CachedResponse): Promise<void> {
    const text = JSON.stringify(response);
    if (text.length > MAX_CACHED_LENGTH) return;
    const _id = idOf(userId, key);
    const fields = { userId, storedAt, expiresAt: new Date(expiresAt), response: text, length: text.length };
    if ((await this.entries.update({ _id }, { $set: fields })) === 0) {
      try {
        await this.entries.insert({ _id, ...fields });
      } catch (error) {
        // An identical request that was answered at the same time has stored its response, which is as good.
        if (!isLLMError(error) || error.code !== 'conflict') throw error;
      }
    }
    await this.evict(userId, text.length);
  }

  private async evict(userId: string, added: number): Promise<void> {
    const before = this.savedSinceCount.get(userId) ?? { saves: 0, length: 0 };
    const saves = before.saves + 1;
    const length = before.length + added;
    this.savedSinceCount.delete(userId);
    if (saves < Math.min(SAVES_PER_COUNT, this.maxEntries) && length < COUNTED_PART * this.maxLength) {
      this.savedSinceCount.set(userId, { saves, length });
      for (const oldest of this.savedSinceCount.keys()) {
        if (this.savedSinceCount.size <= MAX_COUNTED_USERS) return;
        this.savedSinceCount.delete(oldest);
      }
      return;
    }
    const all = await this.entries.find({ userId }, { sort: { storedAt: -1 }, fields: { _id: 1, length: 1 } });
    let kept = 0;
    const surplus = all
      .filter((entry, at) => {
        kept += entry.length ?? MAX_CACHED_LENGTH;
        return at >= this.maxEntries || kept > this.maxLength;
      })
      .map(({ _id }) => _id);
    if (surplus.length > 0) await this.entries.remove({ _id: { $in: surplus } });
  }
}

/** @returns undefined for a text that is no complete response */
function responseIn(text: unknown): LLMResponse | undefined {
  try {
    const value: unknown = JSON.parse(String(text));
    const isResponse =
      isObject(value) &&
      typeof value.id === 'string' &&
      typeof value.model === 'string' &&
      value.status === 'completed' &&
      isList(value.output) &&
      value.output.every((item) => isObject(item) && typeof item.type === 'string') &&
      isObject(value.usage) &&
      isObject(value.vendor);
    // Boundary: this class wrote it.
    return isResponse ? (value as unknown as LLMResponse) : undefined;
  } catch {
    return undefined;
  }
}

function idOf(userId: string, key: string): string {
  return createHash('sha256')
    .update(JSON.stringify([userId, key]))
    .digest('base64url');
}
