/** The collections that the publications fill, with the types of their documents. */
import type { DeltaView, RunDetailView, ToolCallView } from '../../../business/ai/domain/types/RunViews';
import type { Topic } from '../../../business/ai/domain/types/Topics';

/** The server's status. */
export interface StatusView {
  readonly _id: string;
  /** Where the HTTP API is. */
  readonly apiUrl: string;
  /** Present if responses are simulated. */
  readonly simulationNotice?: string;
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
export const CHANGES: CollectionName<ChangesView> = 'ai_topics';
export const STATUS: CollectionName<StatusView> = 'ai_status';
