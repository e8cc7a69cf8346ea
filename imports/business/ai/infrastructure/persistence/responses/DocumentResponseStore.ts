/**
 * Stored responses in a document collection, so that any process can continue a conversation, also after a restart.
 * Bounded in number, bytes and age.
 */
import { isLLMError } from '../../../domain/errors/LLMErrors';
import { TooLargeToStoreError } from '../../../domain/errors/TooLargeToStoreError';
import { ownTurn } from '../../../domain/util/ownTurn';
import { SLICE } from '../../../domain/util/slices';
import type { DocumentCollection, StoredDocument } from '../../../../../database/DocumentCollection';
import type { ResponseStore, StoredResponse } from '../../../domain/interfaces/ResponseStore';
import type { Item } from '../../../domain/types/ResponsesAPITypes';
import { documentBytes, MAX_DOCUMENT_BYTES } from '../../../../../database/bounds/documentBytes';
import { DATABASE_BOUNDS } from '../../../../../database/bounds/StorageBounds';
import type { StorageBounds } from '../../../../../database/bounds/StorageBounds';
import { StoredBytes } from '../../../../../database/bounds/StoredBytes';
import type { DocumentDatabase } from '../../../../../database/DocumentDatabase';
import { hashedId } from '../../../../../database/hashedId';

export interface ResponseDocument extends StoredDocument {
  readonly userId: string;
  /** The ids of the response's items. */
  readonly itemIds: readonly string[];
  /** JSON of the `StoredResponse`. */
  readonly stored: string;
  /** Undefined in documents of earlier versions. */
  readonly bytes?: number;
  readonly usedAt: Date;
}

export interface DocumentResponseStoreOptions {
  /** Per user; the least recently used are evicted. Default: 2,000. */
  readonly maxResponses?: number;
  /** Default: 200 MB per user, 20,000 MB in total. */
  readonly bounds?: StorageBounds;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

export const RESPONSES = 'ai_responses';

/** Since the last use: 30 days, as at OpenAI. */
const TTL_SECONDS = 30 * 24 * 3_600;
/** A use is recorded only if the last recorded one is older than this, so that reads seldom write. */
const USE_PRECISION_MS = 3_600_000;

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
  readonly maxResponseBytes: number;
  private readonly responses: DocumentCollection<ResponseDocument>;
  private readonly bytes: StoredBytes<ResponseDocument>;
  private readonly now: () => number;

  constructor(
    responses: DocumentCollection<ResponseDocument>,
    { maxResponses = 2_000, bounds = DATABASE_BOUNDS, now = Date.now }: DocumentResponseStoreOptions = {},
  ) {
    this.responses = responses;
    this.maxResponseBytes = Math.min(bounds.perDocument ?? MAX_DOCUMENT_BYTES, bounds.perUser, bounds.total);
    this.bytes = new StoredBytes(responses, bounds, {
      order: 'usedAt',
      maxDocuments: maxResponses,
      remove: (ids) => responses.remove({ _id: { $in: ids } }),
      measure: (id) => this.measure(id),
    });
    this.now = now;
  }

  /** Creates the indexes. Safe to call again. */
  async ready(): Promise<void> {
    await this.responses.ensureIndex({ usedAt: 1 }, { expireAfterSeconds: TTL_SECONDS });
    await this.bytes.ready();
    await this.responses.ensureIndex({ itemIds: 1 });
  }

  async save(stored: StoredResponse): Promise<void> {
    const document = await this.toDocument(stored);
    try {
      await this.responses.insert(document);
    } catch (error) {
      // It was saved before, which only responses in the background are.
      if (!isLLMError(error) || error.code !== 'conflict' || !(await this.overwrite(document))) throw error;
    }
    await this.bytes.add(document.userId, document._id, document.bytes);
  }

  async replace(stored: StoredResponse): Promise<boolean> {
    const document = await this.toDocument(stored);
    const isStored = await this.overwrite(document);
    if (isStored) await this.bytes.add(document.userId, document._id, document.bytes);
    return isStored;
  }

  async find(userId: string, id: string): Promise<StoredResponse | undefined> {
    return this.markUsed(await this.responses.findOne({ _id: hashedId(userId, id) }));
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
    return (await this.responses.remove({ _id: hashedId(userId, id) })) === 1;
  }

  private async overwrite({ _id, ...fields }: ResponseDocument): Promise<boolean> {
    return (await this.responses.update({ _id }, { $set: fields })) === 1;
  }

  /** Others have their turn between the stages of a long one. @throws TooLargeToStoreError */
  private async toDocument(response: StoredResponse): Promise<ResponseDocument & { readonly bytes: number }> {
    const { userId, id } = response;
    const items = itemsOf(response);
    const isLong = items.length > SLICE;
    if (isLong) await ownTurn();
    const itemIds = items.flatMap((item) => item.id ?? []);
    const stored = JSON.stringify(response);
    if (isLong) await ownTurn();
    const bytes = documentBytes([stored, ...itemIds]);
    if (bytes > this.maxResponseBytes)
      throw new TooLargeToStoreError('The response, with its input,', bytes, this.maxResponseBytes);
    return { _id: hashedId(userId, id), userId, itemIds, stored, bytes, usedAt: new Date(this.now()) };
  }

  private async measure(_id: string): Promise<number> {
    const found = await this.responses.findOne({ _id });
    if (found === undefined) return 0;
    const bytes = documentBytes([found.stored, ...found.itemIds]);
    await this.responses.update({ _id }, { $set: { bytes } });
    return bytes;
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
}

function itemsOf({ input, response }: StoredResponse): readonly Item[] {
  return [...input, ...response.output];
}
