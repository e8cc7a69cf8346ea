/** Memories in a document collection. */
import type { DocumentCollection } from '../../../database/DocumentCollection';
import type { DocumentDatabase } from '../../../database/DocumentDatabase';
import type { MemoryHead, MemoryRecord, MemoryRecords } from './MemoryRecords';

export const MEMORIES = 'ai_memories';

/** What is published of a memory. */
export const MEMORY_FIELDS = { userId: 1, text: 1, createdAt: 1, savedAt: 1 } as const;

export const LAST_SAVED_FIRST = { savedAt: -1, _id: -1 } as const;

/** @param oldest milliseconds since the epoch: what was last saved before has expired. Default: nothing has */
export function memoriesOf(userId: string, oldest = -Infinity) {
  return { userId, ...(oldest === -Infinity ? {} : { savedAt: { $gt: oldest } }) };
}

interface MemoryDocument extends MemoryRecord {
  /** Absent: kept forever. */
  readonly expiresAt?: Date;
}

export interface MemoryAge {
  /** Milliseconds after the last save. Default: memories do not expire. */
  readonly maxAgeMs?: number;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** Creates the indexes, too. */
export async function openMemoryRecords(
  database: Pick<DocumentDatabase, 'collection'>,
  age: MemoryAge = {},
): Promise<DocumentMemoryRecords> {
  const memories = database.collection<MemoryDocument>(MEMORIES);
  await memories.ensureIndex({ userId: 1, savedAt: -1, _id: -1 });
  await memories.ensureIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  return new DocumentMemoryRecords(memories, age);
}

export class DocumentMemoryRecords implements MemoryRecords {
  private readonly memories: DocumentCollection<MemoryDocument>;
  private readonly maxAgeMs: number;
  private readonly now: () => number;

  constructor(memories: DocumentCollection<MemoryDocument>, { maxAgeMs = Infinity, now = Date.now }: MemoryAge = {}) {
    this.memories = memories;
    this.maxAgeMs = maxAgeMs;
    this.now = now;
  }

  /** The database removes what has expired a while later; a shorter time applies to what is stored already. */
  async heads(userId: string): Promise<readonly MemoryHead[]> {
    return this.memories.find(memoriesOf(userId, this.now() - this.maxAgeMs), {
      sort: LAST_SAVED_FIRST,
      fields: { savedAt: 1, revision: 1 },
    });
  }

  async load(userId: string, ids: readonly string[]): Promise<readonly MemoryRecord[]> {
    return ids.length === 0 ? [] : this.memories.find({ userId, _id: { $in: ids } });
  }

  async put({ _id, ...record }: MemoryRecord): Promise<void> {
    const expires = Number.isFinite(this.maxAgeMs);
    const $set = { ...record, ...(expires ? { expiresAt: new Date(record.savedAt + this.maxAgeMs) } : {}) };
    const $unset = {
      ...(record.vector === undefined ? { vector: true as const, model: true as const } : {}),
      ...(expires ? {} : { expiresAt: true as const }),
    };
    await this.memories.upsertMany([{ _id, selector: { userId: record.userId }, modifier: { $set, $unset } }]);
  }

  async addVector(
    userId: string,
    { _id, revision }: MemoryHead,
    added: Required<Pick<MemoryRecord, 'vector' | 'model' | 'revision'>>,
  ): Promise<void> {
    await this.memories.update({ _id, userId, revision }, { $set: { ...added } });
  }

  async remove(userId: string, ids: readonly string[]): Promise<number> {
    return ids.length === 0 ? 0 : this.memories.remove({ userId, _id: { $in: ids } });
  }

  async removeAll(userId: string): Promise<number> {
    return this.memories.remove({ userId });
  }
}
