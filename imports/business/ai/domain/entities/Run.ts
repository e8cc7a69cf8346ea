/** A run of the agentic loop as its callers see it. Its state changes only along `RUN_TRANSITIONS`. */
import type { RunCompaction } from '../types/Compaction';
import { IllegalTransitionError, isLLMError } from '../errors/LLMErrors';
import type { EndedRun } from '../errors/LLMErrors';
import type { LLMResponse } from '../types/ResponsesAPITypes';
import type { ToolCall, ToolCallState } from './Tool';

export type RunState = 'queued' | 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled';

export const RUN_TRANSITIONS = {
  queued: ['running', 'cancelled'],
  running: ['waiting', 'completed', 'failed', 'cancelled'],
  waiting: ['running', 'completed', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
} as const satisfies Record<RunState, readonly RunState[]>;

/** @throws IllegalTransitionError for a transition that the table does not allow */
export function transitionRun(from: RunState, to: RunState): RunState {
  if (!(RUN_TRANSITIONS[from] as readonly RunState[]).includes(to))
    throw new IllegalTransitionError(`A ${from} run cannot become ${to}.`);
  return to;
}

/** The owner of a run that has begun, or was resumed, and that any process may take over. No process has this id. */
export const UNOWNED = 'unowned';

export function isFinished(state: RunState): boolean {
  return RUN_TRANSITIONS[state].length === 0;
}

/** What a run has done so far, or did in all once it has ended. */
export interface RunReport extends EndedRun {
  /** What the model was sent in place of the beginning of the transcript. Absent: nothing, it was sent whole. */
  readonly compaction?: RunCompaction | undefined;
  readonly toolCalls: readonly ToolCall[];
  /** Calls that have not settled. */
  readonly pending: readonly ToolCall[];
  /** Settled calls whose result never reached the model. */
  readonly undelivered: readonly ToolCall[];
  /** The answers after the one in `response`. Ends when the run does, and throws the error that ended it. */
  readonly followUps: AsyncIterable<LLMResponse>;
}

export interface RunResult extends RunReport {
  /** The last answer. Its `usage` covers the last model call; the report's `usage` is the sum over the run. */
  readonly response: LLMResponse;
  /** The text of the last answer. Not enumerable, since `response` has it. */
  readonly output_text: string;
}

/** @param response the last answer, up to now */
export function toRunResult(report: RunReport, response: LLMResponse): RunResult {
  const result = { ...report, response };
  return Object.defineProperty(result, 'output_text', { value: response.output_text }) as RunResult;
}

/** The report of the run that this error ended, or `undefined` if it ended none. */
export function runOf(error: unknown): RunReport | undefined {
  // Only the loop sets `run`, and it sets complete reports.
  return isLLMError(error) ? (error.run as RunReport | undefined) : undefined;
}

export type ToolStatistics = { readonly [S in ToolCallState]: number } & {
  readonly total: number;
  readonly blocking: number;
  readonly nonBlocking: number;
};
