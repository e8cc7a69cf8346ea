/** Ports to the stored audit trail. Nothing is changed that was written, but the outcome of an act that has begun. */
import type {
  AuditAction,
  AuditChannel,
  AuditEntry,
  AuditOutcome,
  AuditSubjectKind,
} from '../../ai/domain/types/AuditEntries';

/** Absent fields match everything. Times are milliseconds since the epoch, inclusive. */
export interface AuditFilter {
  readonly userId?: string | undefined;
  readonly tokenId?: string | undefined;
  readonly actions?: readonly AuditAction[] | undefined;
  readonly kind?: AuditSubjectKind | undefined;
  readonly subjectId?: string | undefined;
  readonly via?: AuditChannel | undefined;
  readonly outcomes?: readonly AuditOutcome[] | undefined;
  /** Words, or the beginnings of words: of ids, actions, addresses and details. */
  readonly search?: string | undefined;
  /** Users who are found by `search` as well: what they did, and what was done to them. */
  readonly searchedUsers?: readonly string[] | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

export interface AuditPageRequest {
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  /** The `next` of the page before. */
  readonly after?: string | undefined;
  /** Whether the entries of all pages are counted. Default: true. */
  readonly count?: boolean | undefined;
}

export interface AuditPage {
  readonly entries: readonly AuditEntry[];
  /** The number of entries on all pages. Absent if they were not to be counted. */
  readonly total?: number;
  /** Absent on the last page. */
  readonly next?: string;
}

export interface AuditReader {
  /** By time, newest first unless `order` is `asc`. */
  page(filter: AuditFilter, page: AuditPageRequest): Promise<AuditPage>;
}

export interface AuditEnd {
  readonly outcome: Exclude<AuditOutcome, 'begun'>;
  readonly error?: string;
  /** The id of what was created. */
  readonly subjectId?: string;
}

export interface AuditStore {
  insert(entry: AuditEntry): Promise<void>;
  /** Sets the outcome of an act that has begun, once. */
  end(id: string, end: AuditEnd): Promise<void>;
}
