/**
 * Reads the published views of runs. Callers decide whose runs may be seen, and narrow every list by `userId`
 * accordingly.
 */
import type { RunState } from '../entities/Run';
import type { ToolCallState } from '../entities/Tool';
import type { DeltaView, RunCountView, RunDetailView, RunView, ToolCallView } from '../types/RunViews';

export interface RunFilter {
  readonly userId?: string;
  readonly state?: RunState;
  /** Only runs of this conversation. */
  readonly conversationId?: string;
  /** Only runs created at or after this time, in milliseconds since the epoch. */
  readonly since?: number;
}

export interface RunViewReader {
  /** Newest first. */
  runs(filter: RunFilter, limit: number): Promise<readonly RunView[]>;
  run(executionId: string): Promise<RunDetailView | undefined>;
  /** The id of the user whose run it is; undefined for an unknown run. */
  ownerOf(executionId: string): Promise<string | undefined>;
  /** A run's tool calls, oldest first. */
  toolCalls(executionId: string, limit: number): Promise<readonly ToolCallView[]>;
  /** Counts the latest calls of each tool by state. Keys are tool names. */
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
