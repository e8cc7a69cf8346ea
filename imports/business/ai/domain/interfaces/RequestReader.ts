/** Port to the stored request log, for people: pages of entries, and single ones with their bodies. */
import type { RequestBodiesView, RequestSource, RequestState, RequestView } from '../types/RequestRecords';

/** Absent fields match everything. Times are milliseconds since the epoch. */
export interface RequestListFilter {
  readonly userId?: string;
  /** Words, or the beginnings of words: of ids, names, models and errors. */
  readonly search?: string;
  readonly states?: readonly RequestState[];
  readonly source?: RequestSource;
  readonly api?: string;
  readonly providerId?: string;
  /** The model as the vendor names it, or as it was requested. */
  readonly model?: string;
  readonly tokenId?: string;
  readonly executionId?: string;
  readonly from?: number;
  readonly to?: number;
  /** US dollars. */
  readonly minCost?: number;
  readonly maxCost?: number;
  /** Milliseconds. */
  readonly minDuration?: number;
  readonly maxDuration?: number;
}

export type RequestSort = 'at' | 'cost' | 'duration' | 'tokens';

export interface RequestPageRequest {
  readonly sort: RequestSort;
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  /** The `next` of the page before. */
  readonly after?: string;
}

export interface RequestPage {
  readonly requests: readonly RequestView[];
  /** The number of requests on all pages. */
  readonly total: number;
  /** Absent on the last page. */
  readonly next?: string;
}

export interface RequestDetail {
  readonly request: RequestView;
  /** Absent if bodies are not logged, or have expired. */
  readonly bodies?: RequestBodiesView;
  /** Bodies of new calls are logged. */
  readonly logsBodies: boolean;
}

export interface RequestReader {
  page(filter: RequestListFilter, page: RequestPageRequest): Promise<RequestPage>;
  find(id: string): Promise<RequestView | undefined>;
  bodiesOf(id: string): Promise<RequestBodiesView | undefined>;
  /** The first calls of a run, oldest first. */
  ofRun(executionId: string, limit: number): Promise<readonly RequestView[]>;
}
