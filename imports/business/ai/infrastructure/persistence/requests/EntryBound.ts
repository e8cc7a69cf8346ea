/**
 * Bounds the number of entries in the request log. Those who have the most lose their oldest first, so that nobody
 * loses a fair share. Entries are counted in the database, so that all processes agree.
 */
import { getHeapStatistics } from 'node:v8';
import type { DocumentCollection, StoredDocument } from '../../../domain/interfaces/DocumentCollection';
import { fairShare } from '../bounds/StorageBounds';
import type { DocumentDatabase } from '../databases/DocumentDatabase';

interface BoundedEntry extends StoredDocument {
  readonly userId: string;
  readonly at: number;
}

/** Entries are counted when more than one of so many parts of the bound was added. */
const STEPS = 20;
/** Removed at a time. */
const BATCH = 1_000;
/** Of memory, with the indexes of the embedded database. */
const BYTES_PER_ENTRY = 4_000;
/** Of the heap, for the entries in it. */
const SHARE_OF_HEAP = 1 / 3;

/** The embedded database has all entries in the memory of the process. MongoDB has no bound. */
export function maxEntriesFor({ isExclusive }: Pick<DocumentDatabase, 'isExclusive'>): number {
  if (!isExclusive) return Infinity;
  return Math.floor((getHeapStatistics().heap_size_limit * SHARE_OF_HEAP) / BYTES_PER_ENTRY);
}

export class EntryBound<T extends BoundedEntry> {
  private readonly entries: DocumentCollection<T>;
  private readonly maxEntries: number;
  private readonly removeEntries: (ids: readonly string[]) => Promise<unknown>;
  /** Since the last count. Before the first one, it is due. */
  private added = Infinity;

  /** @param remove removes entries with all that belongs to them */
  constructor(
    entries: DocumentCollection<T>,
    maxEntries: number,
    remove: (ids: readonly string[]) => Promise<unknown>,
  ) {
    this.entries = entries;
    this.maxEntries = maxEntries;
    this.removeEntries = remove;
  }

  /** After entries were stored: removes what is too much. */
  async add(count: number): Promise<void> {
    this.added += count;
    if (this.maxEntries === Infinity || this.added <= this.maxEntries / STEPS) return;
    this.added = 0;
    const users = await this.entries.aggregate({}, { by: { userId: 'userId' } });
    const share = fairShare(
      users.map((user) => user.count),
      this.maxEntries,
    );
    for (const user of users)
      if (user.count > share) await this.removeOldest(String(user.key['userId']), user.count - share);
  }

  private async removeOldest(userId: string, count: number): Promise<void> {
    for (let left = count; left > 0; left -= BATCH) {
      const oldest = await this.entries.find(
        { userId },
        { sort: { at: 1, _id: 1 }, limit: Math.min(left, BATCH), fields: { _id: 1 } },
      );
      if (oldest.length === 0) return;
      await this.removeEntries(oldest.map(({ _id }) => _id));
    }
  }
}
