/** Stores what is known of batches at vendors, so that another process can end what one has begun. */
import type { BatchRecord } from '../entities/BatchRecord';

export interface BatchStore {
  /** Undefined for a batch that the user does not have. */
  find(userId: string, batchId: string): Promise<BatchRecord | undefined>;
  /** @returns false if the user has a batch of that id already */
  insert(record: BatchRecord): Promise<boolean>;
  /**
   * Replaces the record if it is as its reader knows it.
   * @param revision of the record that was read
   * @returns false if another process has changed or removed it since
   */
  replace(record: BatchRecord, revision: number): Promise<boolean>;
}
