/**
 * The published view of runs: these fields and no others. Items, arguments and results are JSON strings, because
 * their keys may contain `$` and `.`.
 */
import type { RunState } from '../entities/Run';
import type { ToolCallState } from '../entities/Tool';
import type { ErrorCode } from '../errors/LLMErrors';

/** `ai_runs`, as `ai.runs` publishes it. Times are milliseconds since the epoch. */
export interface RunView {
  /** The execution id. */
  readonly _id: string;
  readonly userId: string;
  readonly providerId: string;
  /** Absent: the provider's default. */
  readonly model?: string;
  readonly state: RunState;
  readonly createdAt: number;
  readonly startedAt?: number;
  readonly endedAt?: number;
  /** Model calls so far. */
  readonly iterations: number;
  readonly usage: UsageView;
  /** US dollars, if the model's price is known. */
  readonly cost?: number;
  readonly error?: { readonly code: ErrorCode; readonly message: string };
  /** The beginning of the input's text. */
  readonly title: string;
  /** The conversation that the run belongs to. */
  readonly conversationId?: string;
}

export interface UsageView {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly total_tokens: number;
  readonly cached_tokens: number;
  readonly reasoning_tokens: number;
}

/** `ai_runs`, as `ai.run` publishes it: one run with its conversation. */
export interface RunDetailView extends RunView {
  /** JSON of the input items. */
  readonly input?: string;
  /** JSON of the full conversation, input first. */
  readonly transcript?: string;
}

/** `ai_tool_calls`. */
export interface ToolCallView {
  readonly _id: string;
  readonly executionId: string;
  /** The call's id within its run. */
  readonly callId: string;
  readonly name: string;
  readonly blocking: boolean;
  readonly state: ToolCallState;
  readonly startTime?: number;
  readonly endTime?: number;
  /** Milliseconds. */
  readonly executionTime?: number;
  /** From 0 to 1. */
  readonly progress?: number;
  readonly note?: string;
  readonly error?: string;
  /** As the model wrote them, truncated to 16 KB. */
  readonly arguments: string;
  /** The text that the model receives, truncated to 16 KB. */
  readonly result?: string;
}

/** `ai_deltas`: a fragment of live text. Joined in order of `seq`, the fragments of a run are its text so far. */
export interface DeltaView {
  readonly _id: string;
  readonly executionId: string;
  readonly seq: number;
  readonly kind: 'text' | 'reasoning' | 'refusal';
  readonly text: string;
}

/** `ai_stats`: the number of runs of one user in a state (final or current), by provider and day. */
export interface RunCountView {
  readonly _id: string;
  readonly userId: string;
  /** UTC, `2026-11-22`. */
  readonly day: string;
  readonly providerId: string;
  readonly state: RunState;
  readonly count: number;
}
