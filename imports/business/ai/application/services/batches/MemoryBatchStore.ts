/** Batches of this process, for programs without a database: they cannot be continued after a restart. */
import { LRUCache } from 'lru-cache';
import { growingCapacity } from '../../../domain/util/growingCapacity';
import type { BatchRecord } from '../../../domain/entities/BatchRecord';
import type { BatchStore } from '../../../domain/interfaces/BatchStore';

const MAX_BATCHES = 1_000;

export class MemoryBatchStore implements BatchStore {
  private readonly records = new LRUCache<string, BatchRecord>(growingCapacity(MAX_BATCHES));

  find(userId: string, batchId: string): Promise<BatchRecord | undefined> {
    return Promise.resolve(this.records.get(keyOf({ userId, batchId })));
  }

  insert(record: BatchRecord): Promise<boolean> {
    if (this.records.get(keyOf(record)) !== undefined) return Promise.resolve(false);
    this.records.set(keyOf(record), record);
    return Promise.resolve(true);
  }

  replace(record: BatchRecord, revision: number): Promise<boolean> {
    if (this.records.get(keyOf(record))?.revision !== revision) return Promise.resolve(false);
    this.records.set(keyOf(record), record);
    return Promise.resolve(true);
  }
}

function keyOf({ userId, batchId }: Pick<BatchRecord, 'userId' | 'batchId'>): string {
  return JSON.stringify([userId, batchId]);
}
