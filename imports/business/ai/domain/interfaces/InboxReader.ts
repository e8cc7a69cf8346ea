/** Reads what waits for people and other services. Callers decide whose, and narrow every query by `userId`. */
import type { CompleteCallView, InboxEntry, InboxKind } from '../types/InboxViews';

export interface InboxFilter {
  /** Absent: everyone's. */
  readonly userId?: string;
}

/** The place of an entry in the list. */
export interface InboxPosition {
  readonly createdAt: number;
  readonly _id: string;
}

export interface InboxRange {
  readonly kinds: readonly InboxKind[];
  readonly filter: InboxFilter;
  /** `asc`: oldest first. */
  readonly order: 'asc' | 'desc';
  /** Absent: from the beginning. */
  readonly after?: InboxPosition | undefined;
  readonly limit: number;
}

export interface InboxReader {
  entries(range: InboxRange): Promise<readonly InboxEntry[]>;
  /** Exact. */
  counts(filter: InboxFilter): Promise<Readonly<Record<InboxKind, number>>>;
  call(executionId: string, callId: string): Promise<CompleteCallView | undefined>;
  /** Removes a failed run from the list. @returns false if the run has not failed, or does not exist */
  markHandled(executionId: string): Promise<boolean>;
}
