/** Cached responses in a document collection, which all processes share. Bounded in number, bytes and age. */
import { MAX_CACHED_LENGTH } from '../../../domain/entities/cacheLimits';
import { consoleLogger } from '../../../../../log/consoleLogger';
import { isList, isObject, readJson } from '../../../domain/util/json';
import type { DocumentCollection, StoredDocument } from '../../../../../database/DocumentCollection';
import type { Logger } from '../../../domain/interfaces/Logger';
import type { CachedResponse, ResponseCache } from '../../../domain/interfaces/ResponseCache';
import type { LLMResponse } from '../../../domain/types/ResponsesAPITypes';
import { DATABASE_BOUNDS } from '../../../../../database/bounds/StorageBounds';
import type { StorageBounds } from '../../../../../database/bounds/StorageBounds';
import { StoredBytes } from '../../../../../database/bounds/StoredBytes';
import type { DocumentDatabase } from '../../../../../database/DocumentDatabase';
import { hashedId } from '../../../../../database/hashedId';
import { insertNew } from '../../../../../database/insertNew';

export interface CachedResponseDocument extends StoredDocument {
  readonly userId: string;
  /** Milliseconds since the epoch. */
  readonly storedAt: number;
  readonly expiresAt: Date;
  /** JSON of the response. */
  readonly response: string;
  /** Undefined in documents of earlier versions, which expire soon. */
  readonly bytes?: number;
}

export interface DocumentResponseCacheOptions {
  /** Per user; the oldest are evicted. Default: 1,000. */
  readonly maxEntries?: number;
  /** Default: 200 MB per user, 20,000 MB in total. */
  readonly bounds?: StorageBounds;
  /** Receives entries that cannot be read. Default: the console. */
  readonly logger?: Logger;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

export const RESPONSE_CACHE = 'ai_response_cache';

const MAX_ENTRIES = 1_000;

/** Creates the cache and its indexes. */
export async function openResponseCache(
  database: Pick<DocumentDatabase, 'collection'>,
  options?: DocumentResponseCacheOptions,
): Promise<DocumentResponseCache> {
  const entries = database.collection<CachedResponseDocument>(RESPONSE_CACHE);
  await entries.ensureIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  const cache = new DocumentResponseCache(entries, options);
  await cache.ready();
  return cache;
}

export class DocumentResponseCache implements ResponseCache {
  private readonly entries: DocumentCollection<CachedResponseDocument>;
  private readonly bytes: StoredBytes<CachedResponseDocument>;
  private readonly logger: Logger;
  private readonly now: () => number;

  constructor(
    entries: DocumentCollection<CachedResponseDocument>,
    {
      maxEntries = MAX_ENTRIES,
      bounds = DATABASE_BOUNDS,
      logger = consoleLogger,
      now = Date.now,
    }: DocumentResponseCacheOptions = {},
  ) {
    this.entries = entries;
    this.bytes = new StoredBytes(entries, bounds, {
      order: 'storedAt',
      maxDocuments: maxEntries,
      remove: (ids) => entries.remove({ _id: { $in: ids } }),
    });
    this.logger = logger;
    this.now = now;
  }

  /** Creates the index that the bounds need. Safe to call again. */
  async ready(): Promise<void> {
    await this.bytes.ready();
  }

  async find(userId: string, key: string): Promise<CachedResponse | undefined> {
    const found = await this.entries.findOne({ _id: hashedId(userId, key) });
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
    const _id = hashedId(userId, key);
    const bytes = Buffer.byteLength(text);
    const fields = { userId, storedAt, expiresAt: new Date(expiresAt), response: text, bytes };
    // An identical request that was answered at the same time may have stored its response, which is as good.
    if ((await this.entries.update({ _id }, { $set: fields })) === 0) await insertNew(this.entries, { _id, ...fields });
    await this.bytes.add(userId, _id, bytes);
  }
}

/** @returns undefined for a text that is no complete response */
function responseIn(text: unknown): LLMResponse | undefined {
  const value = readJson(String(text));
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
}
