/**
 * The published view of runs: these fields and no others. Items, arguments and results are JSON strings, because
 * their keys may contain `$` and `.`.
 */
import type { RunState } from '../entities/Run';
import type { AnsweredInput, CallWait, Decider, InputRequest, ToolCallState } from '../entities/Tool';
import type { ErrorCode } from '../errors/LLMErrors';
import type { Budget, RunLimits } from './RunLimits';
import type { UnpricedCalls } from './RunTotals';
import type { JsonObject } from './VendorTypes';

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
  /** US dollars: the sum of the model calls whose cost is known. Absent: of none is. */
  readonly cost?: number;
  /** What the run may spend at most. Absent: it has no budget of its own, or an older version recorded it. */
  readonly budget?: Budget;
  /** Absent: the cost of every call is known, or an older version recorded the run. */
  readonly unpriced?: UnpricedCalls;
  /** The models that responded. */
  readonly models?: readonly string[];
  /** Names of the tools that the model called. */
  readonly tools?: readonly string[];
  /** Milliseconds from its start to its end; absent until then. */
  readonly duration?: number;
  readonly error?: RunError;
  /** The run was set aside, and waits for a person. */
  readonly parked?: ParkedRun;
  /** The run waits for a process that has its tools. */
  readonly awaitedTools?: AwaitedTools;
  /** Names of its tools without which it goes on, since no process had them for long. */
  readonly missingTools?: readonly string[];
  /** Names of its tools whose definitions have changed since it began. */
  readonly changedTools?: readonly string[];
  /** The beginning of the input's text. */
  readonly title: string;
  /** The conversation that the run belongs to. */
  readonly conversationId?: string;
  /** The run whose tool call it is. */
  readonly parentExecutionId?: string;
  /** The id of that call. */
  readonly parentCallId?: string;
  readonly tags?: readonly string[];
  readonly metadata?: RunMetadataFields;
  /** What people think of the run; the next three fields are of the last one who rated it. */
  readonly rating?: RunRating;
  readonly comment?: string;
  readonly ratedBy?: string;
  readonly ratedAt?: number;
}

/** Letters, digits, `_` and `-` as names. */
export type RunMetadataFields = Readonly<Record<string, string | number | boolean>>;

export type RunRating = 'up' | 'down';

/**
 * Why a run was set aside: `max-takeovers`: it most likely kills the processes that execute it; `unreadable`: what is
 * stored of it cannot be restored; `tool-changed`: a person must decide whether it goes on with another definition of a
 * tool.
 */
export type ParkReason = 'max-takeovers' | 'unreadable' | 'tool-changed';

/** A run that no process executes until a person resumes it. Its state is `waiting`. */
export interface ParkedRun {
  readonly reason: ParkReason;
  /** For people. */
  readonly message: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Tools of a run that a process lacked which could have continued it. */
export interface AwaitedTools {
  readonly names: readonly string[];
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/**
 * What a run waits for: one of its calls; if it is `parked`, for itself to be resumed; or for a process that has its
 * tools.
 */
export type RunWait = CallWait | 'parked' | 'tools';

/** A run in a list, with what it waits for. */
export interface ListedRun extends RunView {
  /** Absent if it waits for neither a person nor another service. */
  readonly waitingFor?: RunWait;
}

/** Sums over all runs that a filter matches. */
export interface RunSummary {
  readonly total: number;
  readonly states: Readonly<Partial<Record<RunState, number>>>;
  readonly usage: UsageView;
  /** US dollars: the sum of the model calls whose cost is known. */
  readonly cost: number;
  /** Runs with model calls whose cost is unknown, and is not in `cost`. */
  readonly unpriced: {
    readonly runs: number;
    readonly models: readonly string[];
    readonly reasons: readonly string[];
  };
}

/** What a run was asked to do, for starting another one like it. */
export interface RunPlanView {
  readonly instructions?: string;
  readonly temperature?: number;
  readonly maxOutputTokens?: number;
  readonly reasoning?: string;
  /** JSON Schema of the answer. */
  readonly schema?: JsonObject;
  /** Names of the tools that it may call on the server. */
  readonly tools: readonly string[];
  /** Names of the tools that its caller executes, and of those of the vendor. */
  readonly otherTools: readonly string[];
  readonly limits: RunLimits;
}

export interface RunError {
  readonly code: ErrorCode;
  readonly message: string;
  /** Whether the same request may succeed if it is sent again. Absent in runs that an older version recorded. */
  readonly retryable?: boolean;
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
  /** JSON of the items that the run has added to its input. Publications have it in place of `transcript`. */
  readonly output?: string;
  /**
   * The state of the run whose `output` this is, in publications. The `state` may be of a list, whose changes arrive
   * before or after those of the run.
   */
  readonly outputState?: RunState;
  /** JSON of the full conversation, input first. In publications, runs that an earlier version recorded have it. */
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
  /** When the model requested the call. This and the following times are milliseconds since the epoch. */
  readonly createdAt?: number;
  /** When a person was asked to approve it. The wait ends with `startTime`, or with `endTime` if it never ran. */
  readonly approvalRequestedAt?: number;
  /** Who approved, rejected or reviewed it last, or submitted its result. */
  readonly decidedBy?: Decider;
  readonly startTime?: number;
  readonly endTime?: number;
  /** Milliseconds. */
  readonly executionTime?: number;
  /** From 0 to 1. */
  readonly progress?: number;
  readonly note?: string;
  readonly error?: string;
  /** The arguments as the model wrote them, truncated to 16 KB. */
  readonly arguments: string;
  /** What the call waits for from outside; absent while it does not. The next three fields, and `input`, need it. */
  readonly waiting?: CallWait;
  /** When the wait ends without a decision or a result, in milliseconds since the epoch. */
  readonly expiresAt?: number;
  /** SHA-256 of the complete arguments, in hexadecimal: what an approval must carry. */
  readonly argumentsHash?: string;
  /** Characters of the complete arguments. */
  readonly argumentsLength?: number;
  /** What its tool, which has begun, asks. */
  readonly input?: InputRequest;
  /** The last 20 of the tool's questions that were answered, oldest first. */
  readonly answers?: readonly AnsweredInput[];
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

/** A run with everything that is shown about it. */
export interface RunDetail {
  readonly run: RunDetailView;
  readonly toolCalls: readonly ToolCallView[];
  /** The live text so far. */
  readonly deltas: readonly DeltaView[];
  /** What it was asked to do. */
  readonly plan: RunPlanView;
}
