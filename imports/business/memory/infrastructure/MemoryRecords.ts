/** What a memory is stored as. Every method concerns one user's records. */
export interface MemoryRecord extends MemoryHead {
  readonly userId: string;
  readonly text: string;
  readonly createdAt: number;
  /** The vector of the text, as `encodeVector` writes it, and the model that made it. */
  readonly vector?: string;
  readonly model?: string;
}

export interface MemoryHead {
  readonly _id: string;
  readonly savedAt: number;
  /** Changes with each write. */
  readonly revision: string;
}

export interface MemoryRecords {
  /** Returns the heads of all records that have not expired, the last saved first. */
  heads(userId: string): Promise<readonly MemoryHead[]>;
  /** In any order. */
  load(userId: string, ids: readonly string[]): Promise<readonly MemoryRecord[]>;
  /** Inserts or replaces. */
  put(record: MemoryRecord): Promise<void>;
  /** Adds the vector to a record that has not been written since. */
  addVector(
    userId: string,
    head: MemoryHead,
    added: Required<Pick<MemoryRecord, 'vector' | 'model' | 'revision'>>,
  ): Promise<void>;
  /** @returns how many there were */
  remove(userId: string, ids: readonly string[]): Promise<number>;
  removeAll(userId: string): Promise<number>;
}
