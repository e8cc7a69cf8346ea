/**
 * What a model may be offered, and the calls that it makes: a tool call changes only by the moves in
 * `TOOL_CALL_MOVES`.
 */
import { IllegalTransitionError } from '../errors/LLMErrors';
import type { ToolFailure } from '../errors/LLMErrors';
import type { JsonObject, VendorPart } from '../types/VendorTypes';

export type ToolDelivery = 'immediate' | 'when_idle' | 'silent';
export type OnDuplicate = 'allow' | 'reject' | 'join';

export interface FunctionTool {
  readonly type: 'function';
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the arguments. */
  readonly parameters?: JsonObject;
  readonly strict?: boolean | null;
  /** `false`: the loop acknowledges the call and the result follows when it is there. Default true. */
  readonly blocking?: boolean;
  /** Milliseconds. */
  readonly timeout?: number;
  /** Runs after the other sequential tools of its turn, never beside them. */
  readonly sequential?: boolean;
  /** May run again with the same idempotency key after a crash. */
  readonly idempotent?: boolean;
  /** Its result comes by `submitToolResult`; the default time-out does not apply. */
  readonly external?: boolean;
  readonly needsApproval?:
    | boolean
    | ((
        args: unknown,
        context: { readonly userId: string; readonly executionId: string },
      ) => boolean | Promise<boolean>);
  readonly delivery?: ToolDelivery;
  readonly onDuplicate?: OnDuplicate;
  readonly vendor?: VendorPart;
}

export const BUILT_IN_TOOL_TYPES = [
  'web_search',
  'file_search',
  'computer_use',
  'code_interpreter',
  'mcp',
  'image_generation',
  'web_fetch',
  'url_context',
  'tool_search',
] as const;
export type BuiltInToolType = (typeof BUILT_IN_TOOL_TYPES)[number];

/**
 * A tool that the vendor's server runs. Its other fields are the Responses wire's; newer types pass to Responses
 * hosts as they are.
 */
export interface BuiltInTool {
  readonly type: BuiltInToolType;
  readonly blocking?: boolean;
  readonly vendor?: VendorPart;
  readonly [field: string]: unknown;
}

export type Tool = FunctionTool | BuiltInTool;

export function isFunctionTool(tool: Tool): tool is FunctionTool {
  return tool.type === 'function';
}

export const ToolCallState = {
  PENDING: 'pending',
  AWAITING_APPROVAL: 'awaiting_approval',
  EXECUTING: 'executing',
  NEEDS_REVIEW: 'needs_review',
  COMPLETED: 'completed',
  FAILED: 'failed',
  TIMEOUT: 'timeout',
  CANCELLED: 'cancelled',
} as const;
export type ToolCallState = (typeof ToolCallState)[keyof typeof ToolCallState];

/** The only legal moves. States without moves are final. */
export const TOOL_CALL_MOVES = {
  pending: ['executing', 'awaiting_approval', 'failed', 'cancelled'],
  awaiting_approval: ['executing', 'failed', 'cancelled'],
  executing: ['completed', 'failed', 'timeout', 'cancelled', 'needs_review'],
  needs_review: ['executing', 'completed', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  timeout: [],
  cancelled: [],
} as const satisfies Record<ToolCallState, readonly ToolCallState[]>;

export interface ToolCallError {
  readonly failure: ToolFailure;
  readonly message: string;
}

interface ToolCallFacts {
  /** Unique within its run; the model's own id unless it used one twice. */
  readonly id: string;
  readonly call_id: string;
  readonly name: string;
  /** As the model wrote them. */
  readonly arguments: string;
  readonly blocking: boolean;
  /** When the call was recorded, in milliseconds since the epoch. */
  readonly createdAt: number;
  readonly progress?: { readonly fraction: number; readonly note?: string };
  /** The response with which its result reached the model. */
  readonly deliveredIn?: string;
}

interface Started {
  /** Milliseconds since the epoch. */
  readonly startTime: number;
}

interface Settled {
  readonly startTime?: number;
  readonly endTime: number;
  /** Milliseconds from start to end; 0 for a call that never ran. */
  readonly executionTime: number;
}

export type ToolCall =
  | (ToolCallFacts & { readonly state: 'pending' })
  | (ToolCallFacts & { readonly state: 'awaiting_approval' })
  | (ToolCallFacts & Started & { readonly state: 'executing' })
  | (ToolCallFacts & Started & { readonly state: 'needs_review' })
  | (ToolCallFacts & Settled & { readonly state: 'completed'; readonly result: string })
  | (ToolCallFacts & Settled & { readonly state: 'failed'; readonly error: ToolCallError })
  | (ToolCallFacts &
      Settled & { readonly state: 'timeout'; readonly error: ToolCallError; readonly lateResult?: string })
  | (ToolCallFacts & Settled & { readonly state: 'cancelled'; readonly error: ToolCallError });

export type ToolEvent =
  | { readonly type: 'tool:approval_required'; readonly at: number }
  | { readonly type: 'tool:executing'; readonly at: number }
  | { readonly type: 'tool:progress'; readonly at: number; readonly fraction: number; readonly note?: string }
  | { readonly type: 'tool:needs_review'; readonly at: number }
  | { readonly type: 'tool:completed'; readonly at: number; readonly result: string }
  | { readonly type: 'tool:failed'; readonly at: number; readonly error: ToolCallError }
  | { readonly type: 'tool:timeout'; readonly at: number; readonly error: ToolCallError }
  | { readonly type: 'tool:cancelled'; readonly at: number; readonly error: ToolCallError }
  | { readonly type: 'tool:late'; readonly at: number; readonly result: string }
  | { readonly type: 'tool:delivered'; readonly at: number; readonly responseId: string };

/** Where an event takes a call. */
export const STATE_AFTER = {
  'tool:approval_required': 'awaiting_approval',
  'tool:executing': 'executing',
  'tool:needs_review': 'needs_review',
  'tool:completed': 'completed',
  'tool:failed': 'failed',
  'tool:timeout': 'timeout',
  'tool:cancelled': 'cancelled',
} as const satisfies Partial<Record<ToolEvent['type'], ToolCallState>>;

export function createToolCall(
  facts: Pick<ToolCall, 'id' | 'call_id' | 'name' | 'arguments' | 'blocking' | 'createdAt'>,
): ToolCall {
  return { state: 'pending', ...facts };
}

export function isSettled(call: ToolCall): boolean {
  return TOOL_CALL_MOVES[call.state].length === 0;
}

/**
 * The call after the event; the call that was given stays as it was.
 * @throws IllegalTransitionError for a move that the table does not have.
 */
export function applyToolEvent(call: ToolCall, event: ToolEvent): ToolCall {
  switch (event.type) {
    case 'tool:progress':
      // Progress that arrives after the end says nothing any more.
      if (call.state !== 'executing') return call;
      return {
        ...call,
        progress: { fraction: event.fraction, ...(event.note === undefined ? {} : { note: event.note }) },
      };
    case 'tool:late':
      if (call.state !== 'timeout') throw illegal(call, event);
      return { ...call, lateResult: event.result };
    case 'tool:delivered':
      if (!isSettled(call)) throw illegal(call, event);
      // Told again, it was still told first with the first.
      return { deliveredIn: event.responseId, ...call };
    default:
      return move(call, event);
  }
}

function move(call: ToolCall, event: Extract<ToolEvent, { type: keyof typeof STATE_AFTER }>): ToolCall {
  const target = STATE_AFTER[event.type];
  if (!(TOOL_CALL_MOVES[call.state] as readonly ToolCallState[]).includes(target)) throw illegal(call, event);
  const facts = factsOf(call);
  switch (event.type) {
    case 'tool:approval_required':
      return { state: 'awaiting_approval', ...facts };
    case 'tool:executing':
      // Each attempt has a time of its own, whatever clocks do, so that what was decided about one is never taken
      // for another.
      return { state: 'executing', startTime: Math.max(event.at, (startTimeOf(call) ?? -1) + 1), ...facts };
    case 'tool:needs_review':
      return { state: 'needs_review', startTime: startTimeOf(call) ?? event.at, ...facts };
    case 'tool:completed':
      return { state: 'completed', result: event.result, ...facts, ...settled(call, event.at) };
    case 'tool:failed':
      return { state: 'failed', error: event.error, ...facts, ...settled(call, event.at) };
    case 'tool:timeout':
      return { state: 'timeout', error: event.error, ...facts, ...settled(call, event.at) };
    case 'tool:cancelled':
      return { state: 'cancelled', error: event.error, ...facts, ...settled(call, event.at) };
  }
}

function factsOf(call: ToolCall): ToolCallFacts {
  return {
    id: call.id,
    call_id: call.call_id,
    name: call.name,
    arguments: call.arguments,
    blocking: call.blocking,
    createdAt: call.createdAt,
    ...(call.progress === undefined ? {} : { progress: call.progress }),
  };
}

function settled(call: ToolCall, endTime: number): Settled {
  const startTime = startTimeOf(call);
  return startTime === undefined
    ? { endTime, executionTime: 0 }
    : { startTime, endTime, executionTime: Math.max(0, endTime - startTime) };
}

function startTimeOf(call: ToolCall): number | undefined {
  return 'startTime' in call ? call.startTime : undefined;
}

function illegal(call: ToolCall, event: ToolEvent): IllegalTransitionError {
  return new IllegalTransitionError(
    `tool call ${call.id} (${call.name}) is ${call.state} and cannot take '${event.type}'`,
  );
}

/** What one call gave. `content` is the text that the model is told. */
export interface ToolResult {
  readonly call_id: string;
  readonly content: string;
  readonly error?: ToolCallError;
  readonly executionTime: number;
  readonly state: ToolCallState;
}

/** The run's view of all its calls, read-only to the outside. Keys are internal call ids. */
export interface ToolExecutionContext {
  readonly executionId: string;
  readonly toolCalls: ReadonlyMap<string, ToolCall>;
  readonly pendingNonBlocking: ReadonlySet<string>;
  readonly completedResults: ReadonlyMap<string, ToolResult>;
}
