/**
 * Keeps the documents of a collection within bounds: per user in number and bytes, and in total in bytes. What is
 * stored is counted in the database, so that all processes agree; each counts again before it has added a twentieth of
 * a bound since, so that little is counted twice.
 */
import type { DocumentCollection, Selector, StoredDocument } from '../DocumentCollection';
import { fairShare } from './StorageBounds';
import type { StorageBounds } from './StorageBounds';

export interface MeasuredDocument extends StoredDocument {
  readonly userId: string;
  /** Undefined for documents of earlier versions. */
  readonly bytes?: number;
}

export interface StoredBytesPorts {
  /** The field by which the first documents to go are found. */
  readonly order: string;
  /** The most documents of a user. */
  readonly maxDocuments: number;
  /** Which documents count. Default: all. */
  readonly where?: Selector;
  /** Removes documents with all that belongs to them. */
  readonly remove: (ids: readonly string[]) => Promise<unknown>;
  /** Measures a document of an earlier version, and stores the result. */
  readonly measure?: (id: string) => Promise<number>;
}

/** A count is due when more than one of so many parts of a bound was added. */
const STEPS = 20;
const MAX_COUNTED_USERS = 10_000;

interface Added {
  readonly documents: number;
  readonly bytes: number;
}

export class StoredBytes<T extends MeasuredDocument> {
  private readonly collection: DocumentCollection<T>;
  private readonly bounds: StorageBounds;
  private readonly ports: StoredBytesPorts;
  /** Since the last count, for the most recent users. */
  private readonly addedByUser = new Map<string, Added>();
  /** Since the last count of all. */
  private added = 0;

  constructor(collection: DocumentCollection<T>, bounds: StorageBounds, ports: StoredBytesPorts) {
    this.collection = collection;
    this.bounds = bounds;
    this.ports = ports;
  }

  /** Creates the index that counts need. Safe to call again. */
  async ready(): Promise<void> {
    await this.collection.ensureIndex({ userId: 1, [this.ports.order]: 1, bytes: 1, _id: 1 });
  }

  /**
   * After a document was stored, or has grown: removes what is too much.
   * @param id stays, whatever its size
   */
  async add(userId: string, id: string, bytes: number): Promise<void> {
    const { perUser, total } = this.bounds;
    // A user who is unknown to this process may have stored anything before.
    const before = this.addedByUser.get(userId) ?? { documents: Infinity, bytes: 0 };
    const now = { documents: before.documents + 1, bytes: before.bytes + bytes };
    this.added += bytes;
    this.addedByUser.delete(userId);
    const isDue = now.bytes > perUser / STEPS || now.documents > this.ports.maxDocuments / STEPS;
    this.remember(userId, isDue ? { documents: 0, bytes: 0 } : now);
    if (isDue) await this.shrink(userId, perUser, id);
    if (this.added <= total / STEPS) return;
    this.added = 0;
    await this.shrinkAll(id);
  }

  private async shrinkAll(kept: string): Promise<void> {
    // The condition makes MongoDB read the index instead of the documents.
    const rows = await this.collection.aggregate(
      { userId: { $gte: '' } },
      { by: { userId: 'userId' }, sum: { bytes: 'bytes' } },
    );
    const users = rows.map(({ key, sum }) => ({ userId: String(key['userId']), bytes: sum['bytes']?.total ?? 0 }));
    const share = fairShare(
      users.map(({ bytes }) => bytes),
      this.bounds.total,
    );
    for (const { userId, bytes } of users) if (bytes > share) await this.shrink(userId, share, kept);
  }

  private async shrink(userId: string, maxBytes: number, kept: string): Promise<void> {
    const { order, maxDocuments, remove } = this.ports;
    const latestFirst = await this.collection.find(
      { ...this.ports.where, userId },
      { sort: { [order]: -1, _id: -1 }, fields: { _id: 1, bytes: 1 } },
    );
    const surplus: string[] = [];
    let bytes = 0;
    let documents = 0;
    // What stays has its room before the others, wherever it is in the order.
    const isKept = ({ _id }: { readonly _id: string }): boolean => _id === kept;
    for (const document of [...latestFirst.filter(isKept), ...latestFirst.filter((each) => !isKept(each))]) {
      bytes += document.bytes ?? (await this.ports.measure?.(document._id)) ?? 0;
      documents += 1;
      if ((bytes > maxBytes || documents > maxDocuments) && !isKept(document)) surplus.push(document._id);
    }
    if (surplus.length > 0) await remove(surplus);
  }

  private remember(userId: string, added: Added): void {
    this.addedByUser.set(userId, added);
    for (const oldest of this.addedByUser.keys()) {
      if (this.addedByUser.size <= MAX_COUNTED_USERS) return;
      this.addedByUser.delete(oldest);
    }
  }
}
