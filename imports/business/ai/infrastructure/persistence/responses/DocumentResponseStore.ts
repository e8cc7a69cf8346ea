/**
 * Stored responses in a document collection, so that any process can continue a conversation, also after a restart.
 * Bounded per user in number and age.
 */
import { createHash } from 'node:crypto';
import { isLLMError } from '../../../domain/errors/LLMErrors';
import type { DocumentCollection, StoredDocument } from '../../../domain/interfaces/DocumentCollection';
import type { ResponseStore, StoredResponse } from '../../../domain/interfaces/ResponseStore';
import type { Item } from '../../../domain/types/ResponsesAPITypes';
import type { DocumentDatabase } from '../databases/DocumentDatabase';

export interface ResponseDocument extends StoredDocument {
  readonly userId: string;
  /** The ids of the response's items. */
  readonly itemIds: readonly string[];
  /** JSON of the `StoredResponse`. */
  readonly stored: string;
  readonly usedAt: Date;
}

export interface DocumentResponseStoreOptions {
  /** Per user; the least recently used are evicted. Default: 2,000. */
  readonly maxResponses?: number;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

export const RESPONSES = 'ai_responses';

/** Since the last use: 30 days, as at OpenAI. */
const TTL_SECONDS = 30 * 24 * 3_600;
/** A use is recorded only if the last recorded one is older than this, so that reads seldom write. */
const USE_PRECISION_MS = 3_600_000;
/** How many saves of a user pass between two counts of the user's responses. */
const SAVES_PER_COUNT = 50;

/** Creates a response store and its indexes. */
export async function openResponseStore(
  database: DocumentDatabase,
  options?: DocumentResponseStoreOptions,
): Promise<DocumentResponseStore> {
  const store = new DocumentResponseStore(database.collection(RESPONSES), options);
  await store.ready();
  return store;
}

export class DocumentResponseStore implements ResponseStore {
  private readonly responses: DocumentCollection<ResponseDocument>;
  private readonly maxResponses: number;
  private readonly now: () => number;
  /** By user, for the most recent users. */
  private readonly savesSinceCount = new Map<string, number>();

  constructor(
    responses: DocumentCollection<ResponseDocument>,
    { maxResponses = 2_000, now = Date.now }: DocumentResponseStoreOptions = {},
  ) {
    this.responses = responses;
    this.maxResponses = maxResponses;
    this.now = now;
  }

  /** Creates the indexes. Safe to call again. */
  async ready(): Promise<void> {
    await this.responses.ensureIndex({ usedAt: 1 }, { expireAfterSeconds: TTL_SECONDS });
    await this.responses.ensureIndex({ userId: 1, usedAt: 1 });
    await this.responses.ensureIndex({ itemIds: 1 });
  }

  async save(stored: StoredResponse): Promise<void> {
    const document = this.toDocument(stored);
    try {
      await this.responses.insert(document);
    } catch (error) {
      // It was saved before, which only responses in the background are.
      if (!isLLMError(error) || error.code !== 'conflict' || !(await this.overwrite(document))) throw error;
    }
    await this.evict(stored.userId);
  }

  replace(stored: StoredResponse): Promise<boolean> {
    return this.overwrite(this.toDocument(stored));
  }

  async find(userId: string, id: string): Promise<StoredResponse | undefined> {
    return this.markUsed(await this.responses.findOne({ _id: keyOf(userId, id) }));
  }

  async findItem(
    userId: string,
    itemId: string,
  ): Promise<{ readonly item: Item; readonly stored: StoredResponse } | undefined> {
    const stored = await this.markUsed(
      await this.responses.findOne({ userId, itemIds: itemId }, { sort: { usedAt: -1 } }),
    );
    const item = stored === undefined ? undefined : itemsOf(stored).find((each) => each.id === itemId);
    return stored === undefined || item === undefined ? undefined : { item, stored };
  }

  async remove(userId: string, id: string): Promise<boolean> {
    return (await this.responses.remove({ _id: keyOf(userId, id) })) === 1;
  }

  private async overwrite({ _id, ...fields }: ResponseDocument): Promise<boolean> {
    return (await this.responses.update({ _id }, { $set: fields })) === 1;
  }

  private toDocument(stored: StoredResponse): ResponseDocument {
    const { userId, id } = stored;
    const itemIds = itemsOf(stored).flatMap((item) => item.id ?? []);
    return { _id: keyOf(userId, id), userId, itemIds, stored: JSON.stringify(stored), usedAt: new Date(this.now()) };
  }

  private async markUsed(document: ResponseDocument | undefined): Promise<StoredResponse | undefined> {
    if (document === undefined) return undefined;
    const now = this.now();
    const age = now - document.usedAt.getTime();
    // Databases remove expired documents with a delay.
    if (age >= TTL_SECONDS * 1_000) return undefined;
    if (age >= USE_PRECISION_MS)
      await this.responses.update({ _id: document._id }, { $set: { usedAt: new Date(now) } });
    // This store wrote the field.
    return JSON.parse(document.stored) as StoredResponse;
  }

  private async evict(userId: string): Promise<void> {
    const saves = (this.savesSinceCount.get(userId) ?? 0) + 1;
    this.savesSinceCount.delete(userId);
    if (saves < Math.min(SAVES_PER_COUNT, this.maxResponses)) {
      this.savesSinceCount.set(userId, saves);
      for (const oldest of this.savesSinceCount.keys()) {
        if (this.savesSinceCount.size <= 10_000) return;
        this.savesSinceCount.delete(oldest);
      }
      return;
    }
    const all = await this.responses.find({ userId }, { sort: { usedAt: -1 }, fields: { _id: 1 } });
    const surplus = all.slice(this.maxResponses).map(({ _id }) => _id);
    if (surplus.length > 0) await this.responses.remove({ _id: { $in: surplus } });
  }
}

function itemsOf({ input, response }: StoredResponse): readonly Item[] {
  return [...input, ...response.output];
}

/** Hashed, since ids come from clients and may have any length. */
function keyOf(userId: string, id: string): string {
  return createHash('sha256')
    .update(JSON.stringify([userId, id]))
    .digest('base64url');
}
