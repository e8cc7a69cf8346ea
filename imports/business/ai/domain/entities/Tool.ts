/**
 * Tools that a model may be offered, and the tool calls it makes. A tool call is a state machine: `applyToolEvent`
 * is the only way to change one, and `TOOL_CALL_TRANSITIONS` lists the legal transitions.
 */
import { IllegalTransitionError } from '../errors/LLMErrors';
import type { ToolFailure } from '../errors/LLMErrors';
import { omitUndefined } from '../util/omitUndefined';
import type { InputImage } from '../types/ResponsesAPITypes';
import type { TraceContext } from '../types/TraceContext';
import type { NativeTool } from '../types/NativeTool';
import type { JsonObject, VendorPart } from '../types/VendorTypes';

/**
 * When the late result of a non-blocking call reaches the model: with the next request, which is made at once if the
 * run is idle (`immediate`); after the model has answered (`when_idle`); or with whatever request is made next
 * (`silent`).
 */
export type ToolDelivery = 'immediate' | 'when_idle' | 'silent';
/** `join` runs the tool once and gives both calls its result; `reject` fails the second call. */
export type OnDuplicate = 'allow' | 'reject' | 'join';

/**
 * What supplies the results of a tool's calls. `function`: a function of this process. The others are supplied from
 * outside, and `submitToolResult` supplies one sooner:
 * - `external`: by `submitToolResult` only, to which the default timeout does not apply.
 * - `timer`: at the time that the arguments name: `until`, in ISO 8601, or `seconds` after the call began.
 * - `signal`: by the signal that the arguments name, `signal`. The call times out after `timeoutSeconds`, by default
 *   after `timeout`.
 * - `run`: by the answer of a run, whose options the tool's function returns.
 */
export type ToolKind = 'function' | 'external' | 'timer' | 'signal' | 'run';

export type ToolCaller = 'direct' | 'programmatic';

/** What a stored run does when it goes on with another definition of the tool than it began with. */
export type OnToolChange = 'continue' | 'ask' | 'end';

export interface FunctionTool {
  readonly type: 'function';
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the arguments. */
  readonly parameters?: JsonObject;
  readonly strict?: boolean | null;
  /**
   * Who may call the tool: the model (`direct`), or programs that it writes and its vendor runs (`programmatic`), with
   * the tool `programmatic_tool_calling` of OpenAI or `code_interpreter` of Anthropic. Default: the model.
   */
  readonly allowed_callers?: readonly ToolCaller[];
  /** JSON Schema of the result, as JSON, for programs. Vendors that have no such field do not get it. */
  readonly output_schema?: JsonObject;
  /** Default true. With `false` the loop acknowledges the call at once and delivers the result when it arrives. */
  readonly blocking?: boolean;
  /** Milliseconds. Default: the loop's `defaultToolTimeout`; 24 hours for results from outside. */
  readonly timeout?: number;
  /** Never runs in parallel with another sequential tool of the same run. */
  readonly sequential?: boolean;
  /** The call may be run again with the same idempotency key after a crash. Others go to review, unless `readOnly`. */
  readonly idempotent?: boolean;
  /** The tool changes nothing: after a crash, its calls may be run again, or forgotten and made again. */
  readonly readOnly?: boolean;
  /** Default: `function`. */
  readonly kind?: ToolKind;
  /** @deprecated Use `kind: 'external'`. The next release does not read it. */
  readonly external?: boolean;
  /**
   * The definition comes from a stranger: its schema is compiled and checked in a thread, within a time limit, and
   * never on the event loop. Default false.
   */
  readonly untrusted?: boolean;
  /** Whether a person must approve the call before it runs. A function receives the validated arguments. */
  readonly needsApproval?:
    | boolean
    | ((
        args: unknown,
        context: { readonly userId: string; readonly executionId: string; readonly callId: string },
      ) => boolean | Promise<boolean>);
  /** When a late result is sent to the model; default `immediate`. */
  readonly delivery?: ToolDelivery;
  /** What to do with a call identical to one that is still open; default `allow`. */
  readonly onDuplicate?: OnDuplicate;
  /**
   * When a stored run goes on in a process with another name, description, schema or kind of the tool: `continue`
   * (default) with the new one, `ask` a person, or `end` the run with an error.
   */
  readonly onChange?: OnToolChange;
  /**
   * Runs leave the definition out of their requests until the model has found the tool with `search_tools`. `auto`:
   * runs with many tools do. Default false.
   */
  readonly deferLoading?: boolean | 'auto';
  /** The vendors' own tool that this function executes. Vendors that have it offer it in place of the function. */
  readonly native?: NativeTool;
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
  'programmatic_tool_calling',
] as const;
export type BuiltInToolType = (typeof BUILT_IN_TOOL_TYPES)[number];

/**
 * A tool that runs on the vendor's servers. The remaining fields are those of the Responses wire and are passed
 * through to it unchanged.
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

/** What a kind means. How the calls of each kind run is in `ToolProcessor`. */
export const TOOL_KINDS = {
  function: { isExternal: false, hasFunction: true },
  external: { isExternal: true, hasFunction: false },
  timer: { isExternal: true, hasFunction: false },
  signal: { isExternal: true, hasFunction: false },
  run: { isExternal: true, hasFunction: true },
} as const satisfies Record<ToolKind, { readonly isExternal: boolean; readonly hasFunction: boolean }>;

type OfKind = Pick<FunctionTool, 'kind'>;

/** The results of the tool's calls come from outside: no function of this process returns them. */
export function isExternalTool({ kind = 'function' }: OfKind): boolean {
  return TOOL_KINDS[kind].isExternal;
}

/** The tool's calls wait for something that no run does: a person, another service, a signal, a time. */
export function waitsForOutside({ kind = 'function' }: OfKind): boolean {
  return TOOL_KINDS[kind].isExternal && kind !== 'run';
}

/** The tool cannot be called without a function of this process. */
export function needsFunction({ kind = 'function' }: OfKind): boolean {
  return TOOL_KINDS[kind].hasFunction;
}

/** Reads a definition that may have `external` in place of `kind`. */
export function withKind<T extends Pick<FunctionTool, 'kind' | 'external'>>(tool: T): T {
  // oxlint-disable-next-line typescript/no-deprecated -- the one place that reads it
  const { external, ...others } = tool;
  // Boundary: callers without types pass anything, and the checks that follow report it.
  if (typeof external !== 'boolean') return tool;
  return { kind: external ? 'external' : 'function', ...others } as T;
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

/** All legal transitions. A state without any is final. */
export const TOOL_CALL_TRANSITIONS = {
  pending: ['executing', 'awaiting_approval', 'failed', 'cancelled'],
  awaiting_approval: ['executing', 'failed', 'cancelled'],
  executing: ['completed', 'failed', 'timeout', 'cancelled', 'needs_review', 'pending'],
  needs_review: ['executing', 'completed', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  timeout: [],
  cancelled: [],
} as const satisfies Record<ToolCallState, readonly ToolCallState[]>;

interface ToolCallTraits {
  /** What the call needs in order to leave this state. */
  readonly waitsFor: 'start' | 'approval' | 'outcome' | 'review' | 'nothing';
  /** Whether the tool may have taken effect although no outcome was recorded. */
  readonly isUncertain: boolean;
  /** What the model receives for the call: a result, an error, or nothing (yet). */
  readonly delivers: 'result' | 'error' | 'nothing';
}

/** The one place that decides what a state means. All other code asks the predicates below. */
const TRAITS = {
  pending: { waitsFor: 'start', isUncertain: false, delivers: 'nothing' },
  awaiting_approval: { waitsFor: 'approval', isUncertain: false, delivers: 'nothing' },
  executing: { waitsFor: 'outcome', isUncertain: true, delivers: 'nothing' },
  needs_review: { waitsFor: 'review', isUncertain: true, delivers: 'nothing' },
  completed: { waitsFor: 'nothing', isUncertain: false, delivers: 'result' },
  failed: { waitsFor: 'nothing', isUncertain: false, delivers: 'error' },
  timeout: { waitsFor: 'nothing', isUncertain: false, delivers: 'error' },
  cancelled: { waitsFor: 'nothing', isUncertain: false, delivers: 'nothing' },
} as const satisfies Record<ToolCallState, ToolCallTraits>;

export interface ToolCallError {
  readonly failure: ToolFailure;
  readonly message: string;
}

/** Who decided about a call, and when. */
export interface Decider {
  readonly userId: string;
  /** The API token that was presented. Absent for people who signed in. */
  readonly tokenId?: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** What a tool that has begun needs a person to decide or to fill in before it goes on. */
export interface InputRequest {
  /** Unique within the call. */
  readonly id: string;
  /** Up to 4,000 characters, as whoever made the tool wrote them. */
  readonly message: string;
  /** JSON Schema of an object, which is submitted as a result. Absent: the answer is an approval or a rejection. */
  readonly schema?: JsonObject;
  /** Where the person does what is asked. Never opened by the server. */
  readonly url?: string;
}

/** How a person answered. `values` is the JSON of what was filled in, cut to 16 KiB. */
export type GivenAnswer =
  | { readonly action: 'accept'; readonly values: string }
  | { readonly action: 'decline'; readonly reason: string };

/** What a tool has asked a person, and the answer. */
export interface AnsweredInput {
  /** A schema that is longer than 16 KiB is left out, as `{}`. */
  readonly input: InputRequest;
  /** When the wait would have ended without an answer, in milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Milliseconds since the epoch. */
  readonly answeredAt: number;
  readonly answer: GivenAnswer;
}

interface ToolCallBase {
  /** Unique within its run: the model's own id, unless the model used that twice. */
  readonly id: string;
  /** The id that the model gave the call. */
  readonly call_id: string;
  readonly name: string;
  /** The arguments' JSON text as the model wrote it. */
  readonly arguments: string;
  readonly blocking: boolean;
  /** When the call was recorded, in milliseconds since the epoch. */
  readonly createdAt: number;
  /** `fraction` from 0 to 1. */
  readonly progress?: { readonly fraction: number; readonly note?: string };
  /** When a person was first asked to approve the call, in milliseconds since the epoch. */
  readonly approvalRequestedAt?: number;
  /** Who approved, rejected or reviewed the call last, or submitted its result. Absent if the caller was not named. */
  readonly decidedBy?: Decider;
  /** A person approved the call, or its repetition after a review. */
  readonly isApproved?: true;
  /** The id of the response whose request carried the result to the model. */
  readonly deliveredIn?: string;
  /** The trace context of the last attempt. Absent: it was not traced. */
  readonly trace?: TraceContext;
  /** What the tool goes on from in another process. Absent: it would have to run again. */
  readonly checkpoint?: string;
  /** The last 20 questions of the tool that were answered, oldest first. Absent: none were. */
  readonly answers?: readonly AnsweredInput[];
}

interface Started {
  /** Milliseconds since the epoch. */
  readonly startTime: number;
}

interface Waiting {
  /**
   * When the wait ends without a decision or a result, in milliseconds since the epoch. Absent in calls that an older
   * version recorded.
   */
  readonly expiresAt?: number;
}

interface Settled {
  /** Absent for a call that never ran. */
  readonly startTime?: number;
  readonly endTime: number;
  /** Milliseconds from start to end; 0 for a call that never ran. */
  readonly executionTime: number;
}

interface Failed extends Settled {
  readonly error: ToolCallError;
}

/** The fields that a call has in one state only. */
interface StateFields {
  pending: unknown;
  awaiting_approval: Waiting;
  /** `expiresAt`: only calls of external tools, and those whose tool waits for `input`. */
  executing: Started & Waiting & { readonly input?: InputRequest };
  needs_review: Started & Waiting;
  /** Models that see images receive them with the result. */
  completed: Settled & { readonly result: string; readonly images?: readonly InputImage[] };
  failed: Failed;
  /** `lateResult` is what the tool returned after its timeout. It is stored but never delivered. */
  timeout: Failed & { readonly lateResult?: string };
  cancelled: Failed;
}

export type ToolCall = { [S in ToolCallState]: ToolCallBase & { readonly state: S } & StateFields[S] }[ToolCallState];

/** What a call waits for: the approval of a person, a person's review, or a result from outside. */
export type CallWait = 'approval' | 'review' | 'external';

/** `expiresAt` is the time at which a wait ends without a decision or a result, in milliseconds since the epoch. */
export type ToolEvent =
  | { readonly type: 'tool:approval_required'; readonly at: number; readonly expiresAt?: number }
  /** Has `expiresAt` if another service supplies the result. */
  | {
      readonly type: 'tool:executing';
      readonly at: number;
      readonly expiresAt?: number;
      readonly trace?: TraceContext;
    }
  /** Adds `expiresAt` to an external call that an older version started. */
  | { readonly type: 'tool:awaiting_result'; readonly at: number; readonly expiresAt: number }
  /** The tool waits for a person's answer until `expiresAt`. */
  | {
      readonly type: 'tool:input_required';
      readonly at: number;
      readonly expiresAt: number;
      readonly input: InputRequest;
    }
  /** Without an answer if an earlier version has recorded it. */
  | { readonly type: 'tool:input_received'; readonly at: number; readonly answer?: GivenAnswer | undefined }
  /** Absent text: from here on, the tool would have to run again. */
  | { readonly type: 'tool:checkpoint'; readonly at: number; readonly checkpoint?: string }
  /** The tool takes long: the model goes on without its result, as with a non-blocking call. */
  | { readonly type: 'tool:detached'; readonly at: number }
  /** A decision was taken in; what it leads to follows. */
  | { readonly type: 'tool:decided'; readonly at: number; readonly by: Decider }
  | { readonly type: 'tool:progress'; readonly at: number; readonly fraction: number; readonly note?: string }
  /** The tool stopped before it had any effect, because its process shuts down: the next one runs it. */
  | { readonly type: 'tool:interrupted'; readonly at: number }
  | { readonly type: 'tool:needs_review'; readonly at: number; readonly expiresAt?: number }
  | {
      readonly type: 'tool:completed';
      readonly at: number;
      readonly result: string;
      readonly images?: readonly InputImage[];
    }
  | { readonly type: 'tool:failed'; readonly at: number; readonly error: ToolCallError }
  | { readonly type: 'tool:timeout'; readonly at: number; readonly error: ToolCallError }
  | { readonly type: 'tool:cancelled'; readonly at: number; readonly error: ToolCallError }
  | { readonly type: 'tool:late'; readonly at: number; readonly result: string }
  | { readonly type: 'tool:delivered'; readonly at: number; readonly responseId: string };

/** The state that an event puts a call in. */
export const STATE_AFTER_EVENT = {
  'tool:approval_required': 'awaiting_approval',
  'tool:executing': 'executing',
  'tool:interrupted': 'pending',
  'tool:needs_review': 'needs_review',
  'tool:completed': 'completed',
  'tool:failed': 'failed',
  'tool:timeout': 'timeout',
  'tool:cancelled': 'cancelled',
} as const satisfies Record<
  Exclude<
    ToolEvent['type'],
    | 'tool:awaiting_result'
    | 'tool:input_required'
    | 'tool:input_received'
    | 'tool:checkpoint'
    | 'tool:detached'
    | 'tool:decided'
    | 'tool:progress'
    | 'tool:late'
    | 'tool:delivered'
  >,
  ToolCallState
>;

export function createToolCall(
  fields: Pick<ToolCall, 'id' | 'call_id' | 'name' | 'arguments' | 'blocking' | 'createdAt'>,
): ToolCall {
  return { state: 'pending', ...fields };
}

type InState = Pick<ToolCall, 'state'> & { readonly input?: InputRequest | undefined };

/** The call has reached a final state. */
export function isSettled({ state }: InState): boolean {
  return TOOL_CALL_TRANSITIONS[state].length === 0;
}

/** Nothing has been decided about the call yet. */
export function isPending({ state }: InState): boolean {
  return TRAITS[state].waitsFor === 'start';
}

/** A person has to approve or reject the call before it runs. */
export function needsApproval({ state }: InState): boolean {
  return TRAITS[state].waitsFor === 'approval';
}

/** A person has to decide what to do about a call that was interrupted while it ran. */
export function needsReview({ state }: InState): boolean {
  return TRAITS[state].waitsFor === 'review';
}

/** What the call waits for from outside; undefined if it waits for nothing, or for a tool of the server. */
export function waitOf(call: ToolCall): CallWait | undefined {
  if (needsApproval(call)) return 'approval';
  if (needsReview(call)) return 'review';
  if (call.state !== 'executing' || !('expiresAt' in call)) return undefined;
  return needsInput(call) && call.input?.schema === undefined ? 'approval' : 'external';
}

/** What the call's tool, which has begun, asks a person. */
export function inputOf(call: ToolCall): InputRequest | undefined {
  return call.state === 'executing' ? call.input : undefined;
}

/** The id by which people answer what the call waits for: that of what its tool asks, or the call's own. */
export function answeredIdOf(call: ToolCall): string {
  return inputOf(call)?.id ?? call.id;
}

/** The tool has begun, and waits for a person. */
export function needsInput(call: InState): boolean {
  return call.input !== undefined && isExecuting(call);
}

/** The tool, or for external tools another service, is at work. */
export function isExecuting({ state }: InState): boolean {
  return TRAITS[state].waitsFor === 'outcome';
}

/** The call may be approved or rejected now. */
export function acceptsDecision(call: InState): boolean {
  return waitsForOthers(call, false);
}

/**
 * A decision that was made about this attempt is about what the call waits for now. An approval starts a call once; to
 * run it again takes a decision about the very attempt whose outcome is unknown.
 * @param startTime when the attempt began that the person was shown; undefined if the call had not been started
 */
export function isAboutPresentAttempt(call: ToolCall, startTime: number | undefined): boolean {
  return startTime === (needsReview(call) ? startTimeOf(call) : undefined);
}

/** A person has made this decision about the call before. */
export function isDecidedLike(call: ToolCall, isApproval: boolean): boolean {
  if (isApproval) return call.isApproved === true;
  return call.state === ToolCallState.FAILED && call.error.failure === 'rejected';
}

/** A result may be submitted for the call now. @param isExternal whether its tool is external */
export function acceptsResult(call: InState, isExternal: boolean): boolean {
  return needsReview(call) || needsInput(call) || (isExternal && isExecuting(call));
}

/** Only a person or another service can move the call on. @param isExternal whether its tool is external */
export function waitsForOthers({ state, input }: InState, isExternal: boolean): boolean {
  const { waitsFor } = TRAITS[state];
  if (waitsFor === 'outcome') return isExternal || input !== undefined;
  return waitsFor === 'approval' || waitsFor === 'review';
}

/** If the process dies now, it will not be known whether the tool took effect. */
export function isUncertain({ state }: InState): boolean {
  return TRAITS[state].isUncertain;
}

/** The call failed or timed out, and the model receives the error. */
export function hasFailed({ state }: InState): boolean {
  return TRAITS[state].delivers === 'error';
}

/** The call is settled with a result or an error that the model receives. */
export function isDeliverable({ state }: InState): boolean {
  return TRAITS[state].delivers !== 'nothing';
}

/** A result that the tool returns now is recorded as `lateResult`. */
export function acceptsLateResult<C extends InState>(call: C): call is Extract<C, { readonly state: 'timeout' }> {
  return call.state === 'timeout';
}

/**
 * The call ended without a result.
 * @param state of an item of the transcript, which may hold any string
 */
export function isErrorState(state: string | undefined): boolean {
  return isToolCallState(state) && isSettled({ state }) && TRAITS[state].delivers !== 'result';
}

export function isToolCallState(state: string | undefined): state is ToolCallState {
  return state !== undefined && Object.hasOwn(TRAITS, state);
}

/** The model has yet to receive the call's result or error. */
export function isUndelivered(call: ToolCall): boolean {
  return isDeliverable(call) && call.deliveredIn === undefined;
}

/**
 * Returns the call after the event; the given object is not changed.
 * @throws IllegalTransitionError for a transition that the table does not allow
 */
export function applyToolEvent(call: ToolCall, event: ToolEvent): ToolCall {
  switch (event.type) {
    case 'tool:progress':
      // Progress reported after the call has settled is dropped.
      if (!isExecuting(call)) return call;
      return {
        ...call,
        progress: omitUndefined({ fraction: event.fraction, note: event.note }),
      };
    case 'tool:decided':
      return isSettled(call) ? call : { ...call, decidedBy: event.by };
    case 'tool:awaiting_result':
      return call.state === 'executing' ? { ...call, expiresAt: event.expiresAt } : call;
    case 'tool:input_required':
      if (call.state !== 'executing') throw illegal(call, event);
      return { ...call, expiresAt: event.expiresAt, input: event.input };
    case 'tool:input_received': {
      if (call.state !== 'executing') return call;
      const { input, expiresAt = event.at, ...rest } = call;
      const { answer, at: answeredAt } = event;
      if (input === undefined || answer === undefined) return rest;
      const answered = { input: shortened(input), expiresAt, answeredAt, answer };
      return { ...rest, answers: [...(call.answers ?? []), answered].slice(-MAX_ANSWERS) };
    }
    case 'tool:checkpoint': {
      if (isSettled(call)) return call;
      const { checkpoint: _, ...rest } = call;
      return event.checkpoint === undefined ? rest : { ...rest, checkpoint: event.checkpoint };
    }
    case 'tool:detached':
      return isSettled(call) ? call : { ...call, blocking: false };
    case 'tool:late':
      if (!acceptsLateResult(call)) throw illegal(call, event);
      return { ...call, lateResult: event.result };
    case 'tool:delivered':
      if (!isSettled(call)) throw illegal(call, event);
      // The first delivery counts.
      return call.deliveredIn === undefined ? { ...call, deliveredIn: event.responseId } : call;
    default:
      return transition(call, event);
  }
}

function transition(call: ToolCall, event: Extract<ToolEvent, { type: keyof typeof STATE_AFTER_EVENT }>): ToolCall {
  const target = STATE_AFTER_EVENT[event.type];
  if (!(TOOL_CALL_TRANSITIONS[call.state] as readonly ToolCallState[]).includes(target)) throw illegal(call, event);
  const next = baseOf(call);
  next.state = target;
  const startTime = startTimeOf(call);
  switch (event.type) {
    case 'tool:approval_required':
      next.approvalRequestedAt ??= event.at;
      if (event.expiresAt !== undefined) next.expiresAt = event.expiresAt;
      break;
    case 'tool:executing':
      // Every attempt gets a distinct start time, whatever the clock does: decisions are tied to it, so that one made
      // about an earlier attempt never applies to a later one.
      next.startTime = Math.max(event.at, (startTime ?? -1) + 1);
      if (event.expiresAt !== undefined) next.expiresAt = event.expiresAt;
      if (event.trace !== undefined) next.trace = event.trace;
      if (acceptsDecision(call)) next.isApproved = true;
      break;
    case 'tool:interrupted':
      break;
    case 'tool:needs_review':
      next.startTime = startTime ?? event.at;
      if (event.expiresAt !== undefined) next.expiresAt = event.expiresAt;
      break;
    default:
      if ('result' in event) next.result = event.result;
      else next.error = event.error;
      if ('images' in event) next.images = event.images;
      if (startTime !== undefined) next.startTime = startTime;
      next.endTime = event.at;
      next.executionTime = startTime === undefined ? 0 : Math.max(0, event.at - startTime);
  }
  // The event's type decides on the state and on its fields alike.
  return next as ToolCall;
}

/** The fields of all states. */
type AnyFields = { -readonly [K in keyof ToolCallBase]: ToolCallBase[K] } & {
  state: ToolCallState;
  startTime?: number;
  endTime?: number;
  executionTime?: number;
  expiresAt?: number;
  result?: string;
  images?: readonly InputImage[];
  error?: ToolCallError;
};

function baseOf(call: ToolCall): AnyFields {
  const base: AnyFields = {
    state: call.state,
    id: call.id,
    call_id: call.call_id,
    name: call.name,
    arguments: call.arguments,
    blocking: call.blocking,
    createdAt: call.createdAt,
  };
  if (call.progress !== undefined) base.progress = call.progress;
  if (call.approvalRequestedAt !== undefined) base.approvalRequestedAt = call.approvalRequestedAt;
  if (call.decidedBy !== undefined) base.decidedBy = call.decidedBy;
  if (call.isApproved !== undefined) base.isApproved = call.isApproved;
  if (call.trace !== undefined) base.trace = call.trace;
  if (call.answers !== undefined) base.answers = call.answers;
  return base;
}

const MAX_ANSWERS = 20;
const MAX_SCHEMA_CHARACTERS = 16 * 1024;

function shortened(input: InputRequest): InputRequest {
  if (input.schema === undefined || JSON.stringify(input.schema).length <= MAX_SCHEMA_CHARACTERS) return input;
  return { ...input, schema: {} };
}

function startTimeOf(call: ToolCall): number | undefined {
  return 'startTime' in call ? call.startTime : undefined;
}

function illegal(call: ToolCall, event: ToolEvent): IllegalTransitionError {
  return new IllegalTransitionError(
    `Tool call "${call.id}" (${call.name}) is ${call.state} and cannot take the event "${event.type}".`,
  );
}

/** The outcome of a settled call. `content` is the text that the model receives. */
export interface ToolResult {
  readonly call_id: string;
  readonly content: string;
  /** What it shows besides, to models that see images. */
  readonly images?: readonly InputImage[];
  readonly error?: ToolCallError;
  /** Milliseconds. */
  readonly executionTime: number;
  readonly state: ToolCallState;
}

/** A read-only view of a run's calls. Keys are the calls' ids within the run. */
export interface ToolExecutionContext {
  readonly executionId: string;
  readonly toolCalls: ReadonlyMap<string, ToolCall>;
  /** Non-blocking calls that have not settled. */
  readonly pendingNonBlocking: ReadonlySet<string>;
  readonly completedResults: ReadonlyMap<string, ToolResult>;
  /** A model call is in progress. */
  readonly isCalling: boolean;
}
