/** Memories in this process alone, for programs without a database. */
import type { MemoryHead, MemoryRecord, MemoryRecords } from './MemoryRecords';
import type { MemoryAge } from './DocumentMemoryRecords';

export class ProcessMemoryRecords implements MemoryRecords {
  private readonly users = new Map<string, Map<string, MemoryRecord>>();
  private readonly maxAgeMs: number;
  private readonly now: () => number;

  constructor({ maxAgeMs = Infinity, now = Date.now }: MemoryAge = {}) {
    this.maxAgeMs = maxAgeMs;
    this.now = now;
  }

  heads(userId: string): Promise<readonly MemoryHead[]> {
    const records = this.of(userId);
    for (const { _id, savedAt } of records.values()) if (savedAt <= this.now() - this.maxAgeMs) records.delete(_id);
    return Promise.resolve([...records.values()].toSorted((a, b) => b.savedAt - a.savedAt || (a._id < b._id ? 1 : -1)));
  }

  load(userId: string, ids: readonly string[]): Promise<readonly MemoryRecord[]> {
    const records = this.of(userId);
    return Promise.resolve(ids.flatMap((id) => records.get(id) ?? []));
  }

  put(record: MemoryRecord): Promise<void> {
    const records = this.of(record.userId);
    records.set(record._id, record);
    this.users.set(record.userId, records);
    return Promise.resolve();
  }

  addVector(
    userId: string,
    { _id, revision }: MemoryHead,
    added: Required<Pick<MemoryRecord, 'vector' | 'model' | 'revision'>>,
  ): Promise<void> {
    const record = this.of(userId).get(_id);
    if (record?.revision === revision) this.of(userId).set(_id, { ...record, ...added });
    return Promise.resolve();
  }

  remove(userId: string, ids: readonly string[]): Promise<number> {
    const records = this.of(userId);
    const removed = ids.filter((id) => records.delete(id)).length;
    if (records.size === 0) this.users.delete(userId);
    return Promise.resolve(removed);
  }

  removeAll(userId: string): Promise<number> {
    const { size } = this.of(userId);
    this.users.delete(userId);
    return Promise.resolve(size);
  }

  private of(userId: string): Map<string, MemoryRecord> {
    return this.users.get(userId) ?? new Map<string, MemoryRecord>();
  }
}
