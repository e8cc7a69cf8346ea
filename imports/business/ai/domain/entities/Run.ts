/** A run of the agentic loop, seen from outside: its state moves only along `RUN_MOVES`. */
import { IllegalTransitionError, isLLMError } from '../errors/LLMErrors';
import type { EndedRun } from '../errors/LLMErrors';
import type { LLMResponse } from '../types/ResponsesAPITypes';
import type { ToolCall, ToolCallState } from './Tool';

export type RunState = 'queued' | 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled';

export const RUN_MOVES = {
  queued: ['running', 'cancelled'],
  running: ['waiting', 'completed', 'failed', 'cancelled'],
  waiting: ['running', 'completed', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
} as const satisfies Record<RunState, readonly RunState[]>;

/** @throws IllegalTransitionError for a move that the table does not have. */
export function moveRun(from: RunState, to: RunState): RunState {
  if (!(RUN_MOVES[from] as readonly RunState[]).includes(to))
    throw new IllegalTransitionError(`a ${from} run cannot become ${to}`);
  return to;
}

export function isFinished(state: RunState): boolean {
  return RUN_MOVES[state].length === 0;
}

/** Everything a run did. */
export interface RunReport extends EndedRun {
  readonly toolCalls: readonly ToolCall[];
  /** Calls that still run. */
  readonly pending: readonly ToolCall[];
  /** Calls whose result never reached the model. */
  readonly undelivered: readonly ToolCall[];
  /** Answers that follow the one in `response`; ends with the run, throws what ended it. */
  readonly followUps: AsyncIterable<LLMResponse>;
}

export interface RunResult extends RunReport {
  /** The last answer; its `usage` is the last call's, the report's is the run's sum. */
  readonly response: LLMResponse;
}

/** What the run that this error ended had done, or `undefined` for errors that ended none. */
export function runOf(error: unknown): RunReport | undefined {
  // The loop is the only writer of `run`, and it writes whole reports.
  return isLLMError(error) ? (error.run as RunReport | undefined) : undefined;
}

export type ToolStatistics = { readonly [S in ToolCallState]: number } & {
  readonly total: number;
  readonly blocking: number;
  readonly nonBlocking: number;
};
