/**
 * The events of a run: one discriminated union that feeds stores, event streams and the dashboard. A run emits
 * `run:started` first and exactly one of `run:completed`, `run:failed` and `run:cancelled` last.
 */
import type { GivenAnswer, InputRequest, ToolCall, ToolCallError, ToolCallState } from '../entities/Tool';
import type { ErrorCode } from '../errors/LLMErrors';
import type { CompactionReason } from './Compaction';
import type { FailedAttempt, LLMResponse, MessageItem } from './ResponsesAPITypes';
import type { RunSums } from './RunTotals';
import type { ParkReason } from './RunViews';
import type { Loss } from './VendorTypes';

interface CallReference {
  /** The call's id within its run. */
  readonly callId: string;
  /** The tool's name. */
  readonly name: string;
}

interface ErrorSummary {
  readonly code: ErrorCode;
  readonly message: string;
}

/** An event without `executionId`, `at` and `seq`. */
export type AgentEventBody =
  /** Emitted again when another process continues the run. */
  | {
      readonly type: 'run:started';
      readonly userId: string;
      /** The model of the run's options. */
      readonly model: string;
      /** The remaining fields are present only for stored runs and repeat the run's record. */
      readonly providerId?: string;
      readonly title?: string;
      readonly conversationId?: string;
      /** Milliseconds since the epoch. */
      readonly createdAt?: number;
      /** Names of tools whose definitions have changed since the run began. Absent: none that this process knows of. */
      readonly changedTools?: readonly string[];
      /** The run whose call has started this one. Absent: it was started otherwise. */
      readonly parentExecutionId?: string;
      /** The id of that call. */
      readonly parentCallId?: string;
    }
  /** The run was set aside: no process executes it until a person resumes it. See `ParkedRun`. */
  | {
      readonly type: 'run:parked';
      readonly userId: string;
      readonly reason: ParkReason;
      readonly message: string;
    }
  /** The run waits for a process that has these tools. */
  | { readonly type: 'run:awaiting_tools'; readonly userId: string; readonly names: readonly string[] }
  /** A model call starts. `iteration` counts the run's model calls from 1. */
  | { readonly type: 'iteration:start'; readonly iteration: number }
  /** A fragment of the response; in streaming runs only. */
  | { readonly type: 'llm:delta'; readonly kind: 'text' | 'reasoning' | 'refusal'; readonly delta: string }
  /**
   * A fragment of the arguments of a call that the model is writing; with `streamArguments` only. `tool:pending`
   * follows with all of them, which may be written otherwise.
   */
  | ({ readonly type: 'tool:arguments_delta'; readonly delta: string } & CallReference)
  /** An attempt at the model call failed and is followed by another one; see `FailedAttempt`. */
  | ({ readonly type: 'llm:retry'; readonly iteration: number } & FailedAttempt)
  /**
   * What the model is sent of the run's history was shortened. The tokens are those of a request, as far as they can be
   * told; `summarizedItems` and `clearedItems` how many items at the beginning of the transcript are replaced by a
   * summary, and have the results of their tools replaced by references.
   */
  | {
      readonly type: 'history:compacted';
      /** The model call that it was done for. */
      readonly iteration: number;
      readonly model: string;
      readonly reason: CompactionReason;
      /** Whether the vendor has compacted the history, or Bolide. */
      readonly strategy: 'vendor' | 'portable';
      readonly tokensBefore: number;
      readonly tokensAfter: number;
      readonly summarizedItems: number;
      readonly clearedItems: number;
      readonly losses: readonly Loss[];
    }
  /** The model call returned. Its output is part of the transcript. */
  | { readonly type: 'llm:response'; readonly iteration: number; readonly response: LLMResponse }
  /**
   * The model call was aborted for a message that was sent to the run. `item` is the text that the model had written,
   * and part of the transcript; without one it had written none, or the run does not stream.
   */
  | { readonly type: 'llm:interrupted'; readonly iteration: number; readonly item?: MessageItem }
  /** A message that was sent to the run is part of the transcript. The next model call delivers it. */
  | { readonly type: 'message:delivered'; readonly messageId: string; readonly item: MessageItem }
  /** The model requested a tool call. `arguments` is the JSON text as the model wrote it. */
  | ({
      readonly type: 'tool:pending';
      /** The id that the model gave the call; differs from `callId` if the model used it twice. */
      readonly call_id: string;
      readonly arguments: string;
      readonly blocking: boolean;
    } & CallReference)
  /**
   * A person has to approve or reject the call. `argumentsHash` is the SHA-256 of `arguments` in hex. `expiresAt`, here
   * and below, is when the wait ends without a decision or a result, in milliseconds since the epoch.
   */
  | ({
      readonly type: 'tool:approval_required';
      readonly arguments: string;
      readonly argumentsHash: string;
      readonly expiresAt?: number;
    } & CallReference)
  /** Has `expiresAt` if the tool is external: the call then waits for a submitted result. */
  | ({ readonly type: 'tool:executing'; readonly expiresAt?: number } & CallReference)
  /** The tool has begun and waits for a person's answer: an approval, or values that match `input.schema`. */
  | ({ readonly type: 'tool:input_required'; readonly input: InputRequest; readonly expiresAt: number } & CallReference)
  /** The answer is there, or nobody gave one, and the tool goes on. */
  | ({ readonly type: 'tool:input_received'; readonly answer?: GivenAnswer } & CallReference)
  /**
   * The call was interrupted while it ran, and a person has to decide what to do about it. `startTime` is when that
   * attempt began, in milliseconds since the epoch: it names what may run again.
   */
  | ({ readonly type: 'tool:needs_review'; readonly startTime: number; readonly expiresAt?: number } & CallReference)
  /** `fraction` from 0 to 1; `note` has at most 500 characters. */
  | ({ readonly type: 'tool:progress'; readonly fraction: number; readonly note?: string } & CallReference)
  /** `result` is the text that the model receives. `executionTime` in milliseconds, here and below. */
  | ({ readonly type: 'tool:completed'; readonly result: string; readonly executionTime: number } & CallReference)
  | ({ readonly type: 'tool:failed'; readonly error: ToolCallError; readonly executionTime: number } & CallReference)
  | ({ readonly type: 'tool:timeout'; readonly error: ToolCallError; readonly executionTime: number } & CallReference)
  /** The run ended before the call did. */
  | ({ readonly type: 'tool:cancelled'; readonly error: ToolCallError } & CallReference)
  /** The tool returned or threw after its timeout. `result` is stored but never delivered to the model. */
  | ({ readonly type: 'tool:late'; readonly result: string } & CallReference)
  /** A call that was acknowledged in an earlier turn has settled. Its result will be delivered. */
  | ({ readonly type: 'result:arrived'; readonly state: ToolCallState } & CallReference)
  /** The next model call delivers these late results. */
  | { readonly type: 'nonblocking:result'; readonly callIds: readonly string[] }
  /** The model's response to them. */
  | { readonly type: 'nonblocking:llm_response'; readonly callIds: readonly string[]; readonly response: LLMResponse }
  /** The model call that delivered them failed. */
  | { readonly type: 'nonblocking:error'; readonly callIds: readonly string[]; readonly error: ErrorSummary }
  /** `usage`, `cost`, `unpriced` and `iterations` are sums over the run. */
  | ({ readonly type: 'run:completed'; readonly response: LLMResponse; readonly iterations: number } & RunSums)
  | ({ readonly type: 'run:failed'; readonly error: ErrorSummary } & RunSums)
  | ({ readonly type: 'run:cancelled' } & RunSums);

export type AgentEvent = AgentEventBody & {
  readonly executionId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /**
   * Rises with every event of the run, by one, starting at 1. When another process takes the run over, it leaves a
   * gap, so that its events never repeat a number of the last owner's.
   */
  readonly seq: number;
};

/** A call that has started a run. */
export interface CallStep extends CallReference {
  /** The run that made the call. */
  readonly executionId: string;
}

/** A call, and the run that made it. */
export type CallOfRun = Pick<CallStep, 'executionId' | 'callId'>;

/**
 * An event of a run, or of one that it has started, directly or not: `path` has the calls that led to the latter, the
 * first of them a call of the former. Absent: the run's own.
 */
export type FamilyEvent = AgentEvent & { readonly path?: readonly CallStep[] };

export type AgentEventType = AgentEventBody['type'];
/** A run emits exactly one of these, as its last event. */
export const RUN_END_EVENTS: ReadonlySet<AgentEventType> = new Set(['run:completed', 'run:failed', 'run:cancelled']);

export type AgentEventOf<T extends AgentEventType> = Extract<AgentEvent, { readonly type: T }>;

/**
 * An event as listeners of the loop receive it. Those of a recorded call have it as `toolCall`, which is frozen, and
 * not enumerable, so it is neither stored nor sent.
 */
export type LocalAgentEvent<E extends AgentEvent = AgentEvent> = E extends { readonly type: 'tool:arguments_delta' }
  ? E
  : E extends { readonly callId: string }
    ? E & { readonly toolCall: ListenedToolCall }
    : E;

/** A fragment of what the model writes. */
export type DeltaEvent = AgentEventOf<'llm:delta' | 'tool:arguments_delta'>;

export function isDelta(event: AgentEvent): event is DeltaEvent {
  return event.type === 'llm:delta' || event.type === 'tool:arguments_delta';
}

/** Identifies what the fragment belongs to, within its model call. */
export function textOfDelta(event: DeltaEvent): string {
  return event.type === 'llm:delta' ? event.kind : `call ${event.callId}`;
}

/** A call that has its name and its arguments also in the form of OpenAI's Chat Completions. */
export type ListenedToolCall = ToolCall & {
  readonly function: { readonly name: string; readonly arguments: string };
};
