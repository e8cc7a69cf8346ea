/**
 * Bounds the number of entries in a log. Those who have the most lose their oldest first, so that nobody
 * loses a fair share. Entries are counted in the database, so that all processes agree.
 */
import { getHeapStatistics } from 'node:v8';
import type { DocumentCollection, StoredDocument } from '../DocumentCollection';
import { fairShare } from './StorageBounds';
import type { DocumentDatabase } from '../DocumentDatabase';

interface BoundedEntry extends StoredDocument {
  readonly userId: string;
  readonly at: number;
}

/** Entries are counted when more than one of so many parts of the bound was added. */
const STEPS = 20;
/** Removed at a time. */
const BATCH = 1_000;
/** Bytes of memory that an entry takes in the embedded database, with its indexes. */
const BYTES_PER_ENTRY = 4_000;

/** @returns how many entries fit into a share of the heap, where the embedded database has them; otherwise, `others` */
export function maxEntriesFor(
  { isExclusive }: Pick<DocumentDatabase, 'isExclusive'>,
  shareOfHeap: number,
  others: number,
): number {
  if (!isExclusive) return others;
  return Math.floor((getHeapStatistics().heap_size_limit * shareOfHeap) / BYTES_PER_ENTRY);
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

  /** After entries were stored: removes what is too much. @returns how many were removed */
  async add(count: number): Promise<number> {
    this.added += count;
    if (this.maxEntries === Infinity || this.added <= this.maxEntries / STEPS) return 0;
    this.added = 0;
    // The condition makes MongoDB read an index instead of the documents.
    const users = await this.entries.aggregate({ userId: { $gte: '' } }, { by: { userId: 'userId' } });
    const share = fairShare(
      users.map((user) => user.count),
      this.maxEntries,
    );
    let removed = 0;
    for (const user of users)
      if (user.count > share) removed += await this.removeOldest(String(user.key['userId']), user.count - share);
    return removed;
  }

  private async removeOldest(userId: string, count: number): Promise<number> {
    let removed = 0;
    for (let left = count; left > 0; left -= BATCH) {
      const oldest = await this.entries.find(
        { userId },
        { sort: { at: 1, _id: 1 }, limit: Math.min(left, BATCH), fields: { _id: 1 } },
      );
      if (oldest.length === 0) break;
      await this.removeEntries(oldest.map(({ _id }) => _id));
      removed += oldest.length;
    }
    return removed;
  }
}
