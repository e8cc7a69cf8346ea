/** The collections that the publications fill, with the types of their documents. */
import type { PublicProvider } from '../../../business/providers/domain/entities/PublicProvider';
import type { DeltaView, RunCountView, RunDetailView, ToolCallView } from '../../../business/ai/domain/types/RunViews';
import type { Topic } from '../../../business/ai/domain/types/Topics';

/** The server's status. */
export interface StatusView {
  readonly _id: string;
  /** Where the HTTP API is. */
  readonly apiUrl: string;
  /** Present if responses are simulated. */
  readonly simulationNotice?: string;
}

/** What is remembered about the user. */
export interface MemoryView {
  readonly _id: string;
  readonly userId: string;
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly savedAt: number;
}

/** A topic of `ai.changes`. */
export interface ChangesView {
  readonly _id: Topic;
  /** Differs after every change. */
  readonly revision: number;
}

/** `T` exists only for the type. */
export type CollectionName<T> = string & { readonly documentType?: T };

export const RUNS: CollectionName<RunDetailView> = 'ai_runs';
export const TOOL_CALLS: CollectionName<ToolCallView> = 'ai_tool_calls';
export const DELTAS: CollectionName<DeltaView> = 'ai_deltas';
export const STATS: CollectionName<RunCountView> = 'ai_stats';
export const MEMORIES: CollectionName<MemoryView> = 'ai_memories';
export const PROVIDERS: CollectionName<PublicProvider> = 'ai_providers';
export const CHANGES: CollectionName<ChangesView> = 'ai_topics';
export const STATUS: CollectionName<StatusView> = 'ai_status';
