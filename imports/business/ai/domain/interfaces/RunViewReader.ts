/**
 * Where people's views of runs are read. Whose runs they may see is for the caller to say: `userId` narrows every
 * list.
 */
import type { RunState } from '../entities/Run';
import type { ToolCallState } from '../entities/Tool';
import type { DeltaView, RunCountView, RunDetailView, RunView, ToolCallView } from '../types/RunViews';

export interface RunFilter {
  readonly userId?: string;
  readonly state?: RunState;
  /** Runs that were created then or later, in milliseconds since the epoch. */
  readonly since?: number;
}

export interface RunViewReader {
  /** The newest first. */
  runs(filter: RunFilter, limit: number): Promise<readonly RunView[]>;
  run(executionId: string): Promise<RunDetailView | undefined>;
  /** Whose run it is, or undefined for one that is not known. */
  ownerOf(executionId: string): Promise<string | undefined>;
  /** A run's calls in the order in which they were made. */
  toolCalls(executionId: string, limit: number): Promise<readonly ToolCallView[]>;
  /** How many of the latest calls of each tool are in which state. */
  toolCounts(filter: Pick<RunFilter, 'userId'>): Promise<ReadonlyMap<string, ToolCounts>>;
}

export type ToolCounts = Readonly<Partial<Record<ToolCallState, number>>>;

export interface LiveTextReader {
  /** A run's live text, in order. */
  deltas(executionId: string, limit: number): Promise<readonly DeltaView[]>;
}

export interface RunCountReader {
  /** The latest days first. */
  counts(filter: Pick<RunFilter, 'userId'>, limit: number): Promise<readonly RunCountView[]>;
}
