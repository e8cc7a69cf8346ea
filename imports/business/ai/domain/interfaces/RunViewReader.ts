/**
 * Reads the published views of runs. Callers decide whose runs may be seen, and narrow every list by `userId`
 * accordingly.
 */
import type { ListRange } from './ListRange';
import type { RunState } from '../entities/Run';
import type { ToolCallState } from '../entities/Tool';
import type {
  DeltaView,
  ListedRun,
  RunCountView,
  RunDetailView,
  RunPlanView,
  RunRating,
  RunSummary,
  RunView,
  ToolCallView,
} from '../types/RunViews';

export interface RunFilter {
  readonly userId?: string | undefined;
  readonly state?: RunState;
  readonly conversationId?: string | undefined;
  /** Only runs created at or after this time, in milliseconds since the epoch. */
  readonly since?: number;
  /** Only runs that calls of this one have started. */
  readonly parentExecutionId?: string | undefined;
}

/** All conditions hold together; `from` and `to` bound the time of creation. */
export interface RunListFilter extends ListRange {
  readonly executionId?: string | undefined;
  readonly userId?: string | undefined;
  readonly states?: readonly RunState[] | undefined;
  /** Only runs that wait for a person or another service. */
  readonly waiting?: true | undefined;
  readonly providerId?: string | undefined;
  /** Requested, or one of those that responded. */
  readonly model?: string | undefined;
  /** One that was called. */
  readonly tool?: string | undefined;
  readonly tag?: string | undefined;
  readonly rating?: RunRating | undefined;
  readonly conversationId?: string | undefined;
  /** Only runs that calls of this one have started. */
  readonly parentExecutionId?: string | undefined;
  /** Only those that this call has started. */
  readonly parentCallId?: string | undefined;
  /**
   * Each word begins a word of the title, or of the id of the run, its user, conversation, provider, models and
   * tools.
   */
  readonly search?: string | undefined;
  /** Users whose runs the `search` finds, too. */
  readonly searchedUsers?: readonly string[] | undefined;
}

export type RunSort = 'createdAt' | 'cost' | 'duration' | 'tokens';

export interface RunPageRequest {
  readonly sort: RunSort;
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  /** The `next` of the page before. */
  readonly after?: string | undefined;
}

export interface RunPage {
  readonly runs: readonly ListedRun[];
  /** Runs on all pages. */
  readonly total: number;
  /** Absent on the last page. */
  readonly next?: string;
}

export interface RunListReader {
  /** @throws LLMInvalidRequestError for an invalid `after` */
  page(filter: RunListFilter, request: RunPageRequest): Promise<RunPage>;
  summary(filter: RunListFilter): Promise<RunSummary>;
}

/** What people note about runs. Unknown runs are left alone. */
export interface RunLabels {
  /** Replaces the rating. @param rating null for none */
  rate(executionId: string, rating: RunRating | null, note: RatingNote): Promise<void>;
  tag(executionId: string, tags: readonly string[]): Promise<void>;
}

export interface RatingNote {
  readonly comment?: string;
  /** The user who rates the run. */
  readonly by: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface RunViewReader {
  /** Newest first. */
  runs(filter: RunFilter, limit: number): Promise<readonly RunView[]>;
  run(executionId: string): Promise<RunDetailView | undefined>;
  /** What the run was asked to do. */
  plan(executionId: string): Promise<RunPlanView | undefined>;
  /** The id of the user whose run it is; undefined for an unknown run. */
  ownerOf(executionId: string): Promise<string | undefined>;
  /** A run's tool calls, oldest first. */
  toolCalls(executionId: string, limit: number): Promise<readonly ToolCallView[]>;
  /** Counts the calls of each tool by state. Keys are tool names. */
  toolCounts(filter: Pick<RunFilter, 'userId'>): Promise<ReadonlyMap<string, ToolCounts>>;
}

export type ToolCounts = Readonly<Partial<Record<ToolCallState, number>>>;

export interface LiveTextReader {
  /** A run's live text in order of `seq`. */
  deltas(executionId: string, limit: number): Promise<readonly DeltaView[]>;
}

export interface RunCountReader {
  /** Latest days first. */
  counts(filter: Pick<RunFilter, 'userId'>, limit: number): Promise<readonly RunCountView[]>;
}
