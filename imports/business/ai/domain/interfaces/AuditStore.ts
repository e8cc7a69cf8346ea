/** Ports to the stored audit trail. Nothing is changed that was written, but the outcome of an act that has begun. */
import type { AuditAction, AuditChannel, AuditEntry, AuditOutcome, AuditSubjectKind } from '../types/AuditEntries';

/** Absent fields match everything. Times are milliseconds since the epoch, inclusive. */
export interface AuditFilter {
  readonly userId?: string;
  readonly tokenId?: string;
  readonly actions?: readonly AuditAction[];
  readonly kind?: AuditSubjectKind;
  readonly subjectId?: string;
  readonly via?: AuditChannel;
  readonly outcomes?: readonly AuditOutcome[];
  /** Words, or the beginnings of words: of ids, actions, addresses and details. */
  readonly search?: string;
  readonly from?: number;
  readonly to?: number;
}

export interface AuditPageRequest {
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  /** The `next` of the page before. */
  readonly after?: string;
  /** Whether the entries of all pages are counted. Default: true. */
  readonly count?: boolean;
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
