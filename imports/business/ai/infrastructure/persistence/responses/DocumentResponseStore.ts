/**
 * Stored responses in a document collection: a conversation goes on in any process, and after a restart. Bounded
 * for each user in number and time.
 */
import { createHash } from 'node:crypto';
import { isLLMError } from '../../../domain/errors/LLMErrors';
import type { DocumentCollection, StoredDocument } from '../../../domain/interfaces/DocumentCollection';
import type { ResponseStore, StoredResponse } from '../../../domain/interfaces/ResponseStore';
import type { Item } from '../../../domain/types/ResponsesAPITypes';

export interface ResponseDocument extends StoredDocument {
  readonly userId: string;
  /** The ids of the items in it. */
  readonly itemIds: readonly string[];
  /** JSON of the `StoredResponse`. */
  readonly stored: string;
  readonly usedAt: Date;
}

export interface DocumentResponseStoreOptions {
  /** Of one user; the least recently used go first. Default 2,000. */
  readonly maxResponses?: number;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

export const RESPONSES = 'ai_responses';

/** Since its last use: 30 days, as OpenAI keeps them. */
const TIME_TO_LIVE = 30 * 24 * 3_600;
/** Milliseconds: a use is written down when the last one that was is so long ago, so that reading seldom writes. */
const USE_PRECISION = 3_600_000;
/** A user's responses are counted once in so many of their saves. */
const COUNTED_EVERY = 50;

export class DocumentResponseStore implements ResponseStore {
  private readonly responses: DocumentCollection<ResponseDocument>;
  private readonly maxResponses: number;
  private readonly now: () => number;
  /** Saves since the last count, by user; those of the users seen last. */
  private readonly uncounted = new Map<string, number>();

  constructor(
    responses: DocumentCollection<ResponseDocument>,
    { maxResponses = 2_000, now = Date.now }: DocumentResponseStoreOptions = {},
  ) {
    this.responses = responses;
    this.maxResponses = maxResponses;
    this.now = now;
  }

  /** Makes the indexes. Safe to call again. */
  async ready(): Promise<void> {
    await this.responses.ensureIndex({ usedAt: 1 }, { expireAfterSeconds: TIME_TO_LIVE });
    await this.responses.ensureIndex({ userId: 1, usedAt: 1 });
    await this.responses.ensureIndex({ itemIds: 1 });
  }

  async save(stored: StoredResponse): Promise<void> {
    const { userId, id } = stored;
    const _id = keyOf(userId, id);
    const itemIds = itemsOf(stored).flatMap((item) => item.id ?? []);
    const fields = { userId, itemIds, stored: JSON.stringify(stored), usedAt: new Date(this.now()) };
    const replace = async (): Promise<boolean> => (await this.responses.update({ _id }, { $set: fields })) === 1;
    if (!(await replace())) {
      try {
        await this.responses.insert({ _id, ...fields });
      } catch (error) {
        // Another has saved it in the meantime.
        if (!isLLMError(error) || error.code !== 'conflict' || !(await replace())) throw error;
      }
    }
    await this.shrink(userId);
  }

  async find(userId: string, id: string): Promise<StoredResponse | undefined> {
    return this.use(await this.responses.findOne({ _id: keyOf(userId, id) }));
  }

  async findItem(
    userId: string,
    itemId: string,
  ): Promise<{ readonly item: Item; readonly stored: StoredResponse } | undefined> {
    const stored = await this.use(await this.responses.findOne({ userId, itemIds: itemId }, { sort: { usedAt: -1 } }));
    const item = stored === undefined ? undefined : itemsOf(stored).find((each) => each.id === itemId);
    return stored === undefined || item === undefined ? undefined : { item, stored };
  }

  async remove(userId: string, id: string): Promise<boolean> {
    return (await this.responses.remove({ _id: keyOf(userId, id) })) === 1;
  }

  private async use(document: ResponseDocument | undefined): Promise<StoredResponse | undefined> {
    if (document === undefined) return undefined;
    const now = this.now();
    const age = now - document.usedAt.getTime();
    // Databases look for what has expired now and then only.
    if (age >= TIME_TO_LIVE * 1_000) return undefined;
    if (age >= USE_PRECISION) await this.responses.update({ _id: document._id }, { $set: { usedAt: new Date(now) } });
    // This store alone writes the field.
    return JSON.parse(document.stored) as StoredResponse;
  }

  private async shrink(userId: string): Promise<void> {
    const saves = (this.uncounted.get(userId) ?? 0) + 1;
    this.uncounted.delete(userId);
    if (saves < Math.min(COUNTED_EVERY, this.maxResponses)) {
      this.uncounted.set(userId, saves);
      for (const oldest of this.uncounted.keys()) {
        if (this.uncounted.size <= 10_000) return;
        this.uncounted.delete(oldest);
      }
      return;
    }
    const all = await this.responses.find({ userId }, { sort: { usedAt: -1 }, fields: { _id: 1 } });
    const spare = all.slice(this.maxResponses).map(({ _id }) => _id);
    if (spare.length > 0) await this.responses.remove({ _id: { $in: spare } });
  }
}

function itemsOf({ input, response }: StoredResponse): readonly Item[] {
  return [...input, ...response.output];
}

/** Ids come from outside and may be as long as they like. */
function keyOf(userId: string, id: string): string {
  return createHash('sha256')
    .update(JSON.stringify([userId, id]))
    .digest('base64url');
}
