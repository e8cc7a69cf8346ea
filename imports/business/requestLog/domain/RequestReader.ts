/** Port to the stored request log, for people: pages of entries, and single ones with their bodies. */
import type { ListRange } from '../../ai/domain/interfaces/ListRange';
import type { RequestBodiesView, RequestSource, RequestState, RequestView } from '../../ai/domain/types/RequestRecords';

/** Absent fields match everything. */
export interface RequestListFilter extends ListRange {
  readonly userId?: string | undefined;
  /** Words, or the beginnings of words: of ids, names, models and errors. */
  readonly search?: string | undefined;
  /** Users whose calls the `search` finds, too. */
  readonly searchedUsers?: readonly string[] | undefined;
  readonly states?: readonly RequestState[] | undefined;
  readonly source?: RequestSource | undefined;
  readonly api?: string | undefined;
  readonly providerId?: string | undefined;
  /** The model as the vendor names it, or as it was requested. */
  readonly model?: string | undefined;
  readonly tokenId?: string | undefined;
  readonly executionId?: string | undefined;
}

export type RequestSort = 'at' | 'cost' | 'duration' | 'tokens';

export interface RequestPageRequest {
  readonly sort: RequestSort;
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  /** The `next` of the page before. */
  readonly after?: string | undefined;
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
