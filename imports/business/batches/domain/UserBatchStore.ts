/** Stores batches of users with their requests and results, so that any process can continue one. */
import type { UserBatch, UserBatchRequest, UserBatchResult } from './UserBatch';

/** A batch that has not ended, and the process that works on it; '' if none does. */
export interface LeasedBatch {
  readonly batch: UserBatch;
  readonly owner: string;
}

export interface UserBatchPage {
  /** The newest first. */
  readonly batches: readonly UserBatch[];
  /** The `after` of the next page. */
  readonly next?: string;
}

export interface UserBatchStore {
  /** @returns false if the user has a batch of that id already */
  insert(batch: UserBatch, requests: readonly UserBatchRequest[], owner: string): Promise<boolean>;
  /** Undefined for a batch that the user does not have. */
  find(userId: string, batchId: string): Promise<UserBatch | undefined>;
  /** @throws LLMInvalidRequestError for an `after` that no page has returned */
  list(userId: string, page: { readonly limit: number; readonly after?: string | undefined }): Promise<UserBatchPage>;
  /** In their order. */
  requests(batch: UserBatch): Promise<readonly UserBatchRequest[]>;
  /** Returns up to `limit` results from the index `from` on; undefined for a request without one. */
  results(batch: UserBatch, from: number, limit: number): Promise<readonly (UserBatchResult | undefined)[]>;
  /** Has no effect on a batch that has ended. */
  requestCancellation(userId: string, batchId: string): Promise<void>;
  isOwner(batch: UserBatch, owner: string): Promise<boolean>;
  /** Stores the results first. Has no effect for a process that no longer owns the batch. */
  end(
    batch: UserBatch,
    owner: string,
    ending: Pick<UserBatch, 'state' | 'counts' | 'error'>,
    results: readonly UserBatchResult[],
  ): Promise<void>;
  /** Batches that have not ended, oldest first. @param except owners whose batches are left out */
  leased(limit: number, except?: readonly string[]): Promise<readonly LeasedBatch[]>;
  /** @returns false if the batch has another owner by now, or has ended */
  claim(batch: UserBatch, from: string, to: string): Promise<boolean>;
}
