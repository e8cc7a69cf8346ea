/** What clients see of the batches of users. */
import type { UserBatch, UserBatchResult } from './UserBatch';

export type BatchView = Pick<
  UserBatch,
  'batchId' | 'providerId' | 'state' | 'counts' | 'createdAt' | 'endedAt' | 'error'
>;

export interface BatchPage {
  /** The newest first. */
  readonly batches: readonly BatchView[];
  /** The `after` of the next page. */
  readonly next?: string;
}

export interface BatchResultPage {
  /** In the order of the requests, from `from` on. */
  readonly results: readonly (UserBatchResult & { readonly index: number })[];
  /** The `from` of the next page. */
  readonly next?: number;
}
