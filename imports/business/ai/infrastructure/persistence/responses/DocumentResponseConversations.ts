/**
 * Conversations of the Responses API in two document collections, which all processes share. Bounded in bytes and age.
 */
import { TooLargeToStoreError } from '../../../domain/errors/TooLargeToStoreError';
import type { DocumentCollection, StoredDocument } from '../../../../../database/DocumentCollection';
import type {
  ConversationHistory,
  ConversationItem,
  ResponseConversation,
  ResponseConversationStore,
} from '../../../domain/interfaces/ResponseConversationStore';
import type { Item } from '../../../domain/types/ResponsesAPITypes';
import { documentBytes, MAX_DOCUMENT_BYTES } from '../../../../../database/bounds/documentBytes';
import { DATABASE_BOUNDS } from '../../../../../database/bounds/StorageBounds';
import type { StorageBounds } from '../../../../../database/bounds/StorageBounds';
import { StoredBytes } from '../../../../../database/bounds/StoredBytes';
import type { DocumentDatabase } from '../../../../../database/DocumentDatabase';
import { hashedId } from '../../../../../database/hashedId';
import { insertNew } from '../../../../../database/insertNew';

export interface ConversationDocument extends StoredDocument {
  readonly userId: string;
  readonly conversationId: string;
  /** Seconds since the epoch. */
  readonly createdAt: number;
  /** JSON. */
  readonly metadata: string;
  /** The place of the next item. */
  readonly next: number;
  /** With its items. Undefined in documents of earlier versions. */
  readonly bytes?: number;
  readonly usedAt: Date;
}

export interface ConversationItemDocument extends StoredDocument {
  readonly userId: string;
  /** The `_id` of the conversation. */
  readonly parent: string;
  readonly place: number;
  readonly itemId: string;
  /** JSON. */
  readonly item: string;
  /** Undefined in documents of earlier versions. */
  readonly bytes?: number;
  /** The same as the conversation's, so that both expire together. */
  readonly usedAt: Date;
}

export const CONVERSATIONS = 'ai_conversations';
export const CONVERSATION_ITEMS = 'ai_conversation_items';

/** With all its items. Each request with the conversation reads all of them into memory. */
const MAX_CONVERSATION_BYTES = 32 * 1_024 ** 2;
/** The most conversations of one user. */
const MAX_CONVERSATIONS = 10_000;
/** Since the last use: 30 days. */
const TTL_SECONDS = 30 * 24 * 3_600;
/** A use is recorded only if the last recorded one is older than this, so that uses seldom write to all items. */
const USE_PRECISION_MS = 24 * 3_600_000;

/** Creates the store and its indexes. */
export async function openResponseConversations(
  database: Pick<DocumentDatabase, 'collection'>,
  bounds?: StorageBounds,
): Promise<ResponseConversationStore> {
  const conversations = database.collection<ConversationDocument>(CONVERSATIONS);
  const items = database.collection<ConversationItemDocument>(CONVERSATION_ITEMS);
  await conversations.ensureIndex({ usedAt: 1 }, { expireAfterSeconds: TTL_SECONDS });
  await items.ensureIndex({ usedAt: 1 }, { expireAfterSeconds: TTL_SECONDS });
  await items.ensureIndex({ userId: 1 });
  await items.ensureIndex({ parent: 1, place: 1 });
  const store = new DocumentResponseConversations(conversations, items, bounds);
  await store.ready();
  return store;
}

export class DocumentResponseConversations implements ResponseConversationStore {
  private readonly conversations: DocumentCollection<ConversationDocument>;
  private readonly items: DocumentCollection<ConversationItemDocument>;
  private readonly bytes: StoredBytes<ConversationDocument>;
  private readonly maxBytes: number;
  private readonly maxItemBytes: number;

  constructor(
    conversations: DocumentCollection<ConversationDocument>,
    items: DocumentCollection<ConversationItemDocument>,
    bounds: StorageBounds = DATABASE_BOUNDS,
  ) {
    this.conversations = conversations;
    this.items = items;
    this.maxItemBytes = bounds.perDocument ?? MAX_DOCUMENT_BYTES;
    this.maxBytes = Math.min(MAX_CONVERSATION_BYTES, bounds.perUser, bounds.total);
    this.bytes = new StoredBytes(conversations, bounds, {
      order: 'usedAt',
      maxDocuments: MAX_CONVERSATIONS,
      remove: (ids) => this.removeAll(ids),
    });
  }

  /** Creates the index that the bounds need. Safe to call again. */
  async ready(): Promise<void> {
    await this.bytes.ready();
  }

  async create({ id, userId, createdAt, metadata }: ResponseConversation): Promise<void> {
    const _id = hashedId(userId, id);
    const text = JSON.stringify(metadata);
    const bytes = documentBytes([text]);
    await this.conversations.insert({
      _id,
      userId,
      conversationId: id,
      createdAt,
      metadata: text,
      next: 0,
      bytes,
      usedAt: new Date(),
    });
    await this.bytes.add(userId, _id, bytes);
  }

  async find(userId: string, id: string): Promise<ResponseConversation | undefined> {
    const found = await this.use(hashedId(userId, id));
    if (found === undefined) return undefined;
    // This store wrote the field.
    const metadata = JSON.parse(found.metadata) as ResponseConversation['metadata'];
    return { id, userId, createdAt: found.createdAt, metadata };
  }

  async setMetadata(userId: string, id: string, metadata: ResponseConversation['metadata']): Promise<boolean> {
    const modifier = { $set: { metadata: JSON.stringify(metadata) } };
    return (await this.conversations.update({ _id: hashedId(userId, id) }, modifier)) === 1;
  }

  async remove(userId: string, id: string): Promise<boolean> {
    return (await this.removeAll([hashedId(userId, id)])) === 1;
  }

  async append(
    userId: string,
    id: string,
    items: readonly ConversationItem[],
    renamed: (item: ConversationItem) => ConversationItem,
  ): Promise<readonly ConversationItem[] | undefined> {
    const parent = hashedId(userId, id);
    const rows = items.map((item) => toRow(item, this.maxItemBytes));
    const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
    const reserved = await this.reserve(parent, items.length, bytes);
    if (reserved === undefined) return undefined;
    await this.bytes.add(userId, parent, bytes);
    const stored: ConversationItem[] = [];
    for (const [index, item] of items.entries())
      stored.push(await this.insert({ userId, parent, place: reserved.first + index, ...reserved }, item, renamed));
    // Checked after the insertion, so that a removal meanwhile leaves nothing behind.
    if ((await this.conversations.findOne({ _id: parent }, { fields: { _id: 1 } })) !== undefined) return stored;
    await this.items.remove({ parent });
    return undefined;
  }

  async history(userId: string, id: string, before?: number): Promise<ConversationHistory | undefined> {
    const parent = hashedId(userId, id);
    const conversation = await this.use(parent);
    if (conversation === undefined) return undefined;
    const end = before ?? conversation.next;
    const found = await this.items.find({ parent, place: { $lt: end } }, { sort: { place: 1 } });
    return { items: found.map(toItem), end };
  }

  async findItem(userId: string, id: string, itemId: string): Promise<ConversationItem | undefined> {
    const parent = hashedId(userId, id);
    if ((await this.use(parent)) === undefined) return undefined;
    const found = await this.items.findOne({ _id: hashedId(parent, itemId) });
    return found === undefined ? undefined : toItem(found);
  }

  async removeItem(userId: string, id: string, itemId: string): Promise<boolean> {
    const parent = hashedId(userId, id);
    const _id = hashedId(parent, itemId);
    const found = await this.items.findOne({ _id }, { fields: { bytes: 1 } });
    if ((await this.items.remove({ _id })) === 0) return false;
    if (found?.bytes !== undefined) await this.conversations.update({ _id: parent }, { $inc: { bytes: -found.bytes } });
    return true;
  }

  private async removeAll(ids: readonly string[]): Promise<number> {
    // First, so that nothing is appended any more.
    const removed = await this.conversations.remove({ _id: { $in: ids } });
    await this.items.remove({ parent: { $in: ids } });
    return removed;
  }

  /** Reserves consecutive places and the bytes, whoever else appends. @throws TooLargeToStoreError */
  private async reserve(
    _id: string,
    count: number,
    bytes: number,
  ): Promise<{ readonly first: number; readonly usedAt: Date } | undefined> {
    for (;;) {
      const found = await this.use(_id);
      if (found === undefined) return undefined;
      const { next, usedAt, bytes: before = 0 } = found;
      if (before + bytes > this.maxBytes)
        throw new TooLargeToStoreError('The conversation, with these items,', before + bytes, this.maxBytes);
      const change = { $set: { next: next + count }, $inc: { bytes } };
      if ((await this.conversations.update({ _id, next }, change)) === 1) return { first: next, usedAt };
    }
  }

  private async insert(
    { userId, parent, place, usedAt }: Pick<ConversationItemDocument, 'userId' | 'parent' | 'place' | 'usedAt'>,
    item: ConversationItem,
    renamed: (item: ConversationItem) => ConversationItem,
  ): Promise<ConversationItem> {
    const isNew = await insertNew(this.items, {
      _id: hashedId(parent, item.id),
      userId,
      parent,
      place,
      itemId: item.id,
      ...toRow(item, this.maxItemBytes),
      usedAt,
    });
    return isNew ? item : this.insert({ userId, parent, place, usedAt }, renamed(item), renamed);
  }

  private async use(_id: string): Promise<ConversationDocument | undefined> {
    const found = await this.conversations.findOne({ _id });
    if (found === undefined) return undefined;
    const age = Date.now() - found.usedAt.getTime();
    // Databases remove expired documents with a delay.
    if (age >= TTL_SECONDS * 1_000) return undefined;
    if (age < USE_PRECISION_MS) return found;
    const usedAt = new Date();
    await this.items.update({ parent: _id }, { $set: { usedAt } }, { multi: true });
    await this.conversations.update({ _id }, { $set: { usedAt } });
    return { ...found, usedAt };
  }
}

/** @throws TooLargeToStoreError */
function toRow({ item, id }: ConversationItem, maxBytes: number): { readonly item: string; readonly bytes: number } {
  const text = JSON.stringify(item);
  const bytes = documentBytes([text, id]);
  if (bytes > maxBytes) throw new TooLargeToStoreError('An item of the conversation', bytes, maxBytes);
  return { item: text, bytes };
}

function toItem({ itemId, item }: ConversationItemDocument): ConversationItem {
  // This store wrote the field.
  return { id: itemId, item: JSON.parse(item) as Item };
}
