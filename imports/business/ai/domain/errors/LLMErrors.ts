/**
 * All errors that Bolide throws extend `LLMError`. Rely on `code`: the message is for people, and the cause stays on
 * the server.
 */
import type { Item, LLMResponse } from '../types/ResponsesAPITypes';
import type { RunTotals } from '../types/RunTotals';
import type { JsonObject } from '../types/VendorTypes';

/** Code → HTTP status, and whether the same request may succeed if it is sent again. */
export const ERROR_TABLE = {
  'auth-failed': { http: 401, retryable: false },
  'permission-denied': { http: 403, retryable: false },
  'invalid-request': { http: 400, retryable: false },
  'model-not-found': { http: 404, retryable: false },
  'context-too-long': { http: 413, retryable: false },
  'unsupported-feature': { http: 400, retryable: false },
  'rate-limited': { http: 429, retryable: true },
  'quota-exceeded': { http: 429, retryable: false },
  overloaded: { http: 503, retryable: true },
  'vendor-error': { http: 502, retryable: true },
  'connection-failed': { http: 502, retryable: true },
  timeout: { http: 504, retryable: true },
  'stream-broken': { http: 502, retryable: true },
  refused: { http: 422, retryable: false },
  'content-filtered': { http: 422, retryable: false },
  'guardrail-denied': { http: 400, retryable: false },
  'guardrail-failed': { http: 500, retryable: false },
  incomplete: { http: 422, retryable: false },
  'invalid-output': { http: 422, retryable: false },
  aborted: { http: 499, retryable: false },
  'budget-exceeded': { http: 402, retryable: false },
  'max-iterations': { http: 422, retryable: false },
  'tool-loop': { http: 422, retryable: false },
  'max-takeovers': { http: 500, retryable: false },
  'illegal-transition': { http: 500, retryable: false },
  'missing-package': { http: 500, retryable: false },
  conflict: { http: 409, retryable: false },
  'store-unavailable': { http: 503, retryable: true },
  'tool-failed': { http: 500, retryable: false },
  'storage-full': { http: 507, retryable: false },
} as const satisfies Record<string, { http: number; retryable: boolean }>;
export type ErrorCode = keyof typeof ERROR_TABLE;

export interface LLMErrorDetails {
  readonly cause?: unknown;
  /** Overrides the table where the vendor states otherwise. */
  readonly retryable?: boolean | undefined;
  /** HTTP status of the vendor's response. */
  readonly status?: number | undefined;
  readonly vendor?: string | undefined;
  /** The vendor's own error code or type, verbatim. */
  readonly vendorCode?: string | undefined;
  /** The vendor's error body with secrets masked. Only for clients that use the vendor's own API. */
  readonly vendorBody?: JsonObject | undefined;
  readonly requestId?: string | undefined;
  /** Headers of the vendor's response that its clients read. Only for clients that use the vendor's own API. */
  readonly vendorHeaders?: Readonly<Record<string, string>> | undefined;
  readonly retryAfterMs?: number | undefined;
  /** The response, if there was one. */
  readonly response?: LLMResponse | undefined;
  /** JSON path of the invalid value in the request, e.g. `input[0].role`. */
  readonly path?: string | undefined;
}

/** What a run had done when an error ended it. `runOf` in `entities/Run` returns it with its full type. */
export interface EndedRun extends RunTotals {
  readonly executionId: string;
  readonly iterations: number;
  readonly transcript: readonly Item[];
}

/** On the prototype of every copy of `LLMError`. */
const BRAND = Symbol.for('bolide.LLMError');

/**
 * The base class. `code` and `retryable` follow `ERROR_TABLE`; the other fields are set where they are known.
 * `retryAfterMs` is in milliseconds.
 */
export class LLMError extends Error {
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly status?: number;
  readonly vendor?: string;
  readonly vendorCode?: string;
  readonly vendorBody?: JsonObject;
  readonly requestId?: string;
  readonly vendorHeaders?: Readonly<Record<string, string>>;
  readonly retryAfterMs?: number;
  /** The router adds who served it and what it cost. */
  response?: LLMResponse;
  readonly path?: string;
  /**
   * No credential could be had, e.g. because the user's token endpoint failed, or the user's own account was refused or
   * limited. It is no evidence about the vendor, nor about what others may expect.
   */
  isOfCredential?: true;
  /** Set by the agentic loop on the error that ended a run. */
  run?: EndedRun;

  constructor(code: ErrorCode, message: string, details: LLMErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = new.target.name;
    this.code = code;
    this.retryable = details.retryable ?? ERROR_TABLE[code].retryable;
    if (details.status !== undefined) this.status = details.status;
    if (details.vendor !== undefined) this.vendor = details.vendor;
    if (details.vendorCode !== undefined) this.vendorCode = details.vendorCode;
    if (details.vendorBody !== undefined) this.vendorBody = details.vendorBody;
    if (details.requestId !== undefined) this.requestId = details.requestId;
    if (details.vendorHeaders !== undefined) this.vendorHeaders = details.vendorHeaders;
    if (details.retryAfterMs !== undefined) this.retryAfterMs = details.retryAfterMs;
    if (details.response !== undefined) this.response = details.response;
    if (details.path !== undefined) this.path = details.path;
  }

  get [BRAND](): true {
    return true;
  }

  /** The HTTP status with which our own API reports this error. */
  get httpStatus(): number {
    return ERROR_TABLE[this.code].http;
  }
}

/** The credential is missing, invalid or expired, or the caller is not logged in. */
export class LLMAuthError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('auth-failed', message, details);
  }
}
/** The user or the account may not do this. */
export class LLMPermissionError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('permission-denied', message, details);
  }
}
/** The request is invalid; `path` names the invalid value. Also thrown for invalid configuration. */
export class LLMInvalidRequestError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('invalid-request', message, details);
  }
}
/** The vendor has no such model, or the model names no provider; the message then lists the candidates. */
export class LLMModelNotFoundError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('model-not-found', message, details);
  }
}
/** The request exceeds the model's context window. */
export class LLMContextLengthError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('context-too-long', message, details);
  }
}
/**
 * The vendor, model or wire does not support the request. Thrown before any call; `path` names the unsupported value.
 * Also ends a run whose model makes a call that only a client can answer; `response` contains it.
 */
export class UnsupportedFeatureError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('unsupported-feature', message, details);
  }
}
/** The vendor or Bolide limits the rate of requests. `retryAfterMs` is the time to wait, if it is known. */
export class LLMRateLimitError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('rate-limited', message, details);
  }
}
/** The account's quota or credit is used up. */
export class LLMQuotaError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('quota-exceeded', message, details);
  }
}
/** The vendor is overloaded, or its circuit is open after repeated failures. */
export class LLMOverloadedError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('overloaded', message, details);
  }
}
/** The vendor failed, or an unexpected error occurred; see `cause` on the server. */
export class LLMServerError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('vendor-error', message, details);
  }
}
/** No connection to the vendor, or it was closed before a response. */
export class LLMConnectionError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('connection-failed', message, details);
  }
}
/** The vendor did not respond, or did not finish, in time. */
export class LLMTimeoutError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('timeout', message, details);
  }
}
/** The response body or stream violates its wire: cut off, not JSON, or without its end marker. */
export class LLMStreamError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('stream-broken', message, details);
  }
}
/** The model refused to answer. `response` holds the refusal. */
export class LLMRefusalError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('refused', message, details);
  }
}
/** The vendor's content filter blocked the request or stopped the response. */
export class LLMContentFilterError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('content-filtered', message, details);
  }
}
export interface GuardrailErrorDetails extends Omit<LLMErrorDetails, 'response'> {
  readonly guardrail: string;
}

/** A guardrail denied the request or the response. */
export class GuardrailError extends LLMError {
  readonly guardrail: string;
  /** The response that was denied, without its output: it is billed all the same. */
  withheld?: LLMResponse;

  constructor(message: string, details: GuardrailErrorDetails) {
    super('guardrail-denied', message, details);
    this.guardrail = details.guardrail;
  }
}
/** A guardrail failed itself, so the call was denied; see `cause` on the server. */
export class GuardrailFailureError extends LLMError {
  readonly guardrail: string;
  /** The response that was denied, without its output: it is billed all the same. */
  withheld?: LLMResponse;

  constructor(message: string, details: GuardrailErrorDetails) {
    super('guardrail-failed', message, details);
    this.guardrail = details.guardrail;
  }
}
/** The response is incomplete, or completed without an answer; `reason` states why. */
export class LLMIncompleteError extends LLMError {
  /** Why the response stopped, e.g. `max_output_tokens`, `tool_calls`, `pause_turn`. */
  readonly reason: string;

  constructor(message: string, details: LLMErrorDetails & { readonly reason: string }) {
    super('incomplete', message, details);
    this.reason = details.reason;
  }
}
/** The value violates its schema, even after the model was asked to correct it. */
export class StructuredOutputError extends LLMError {
  /** Where and how the value violates the schema; paths start at `$`. */
  readonly violations: readonly { readonly path: string; readonly message: string }[];
  /** The model's text, unparsed. */
  readonly text: string;

  constructor(
    message: string,
    details: LLMErrorDetails & {
      readonly violations: readonly { path: string; message: string }[];
      readonly text: string;
    },
  ) {
    super('invalid-output', message, details);
    this.violations = details.violations;
    this.text = details.text;
  }
}
/** The caller cancelled the call. */
export class LLMAbortedError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('aborted', message, details);
  }
}
/** The call would exceed the user's or the run's budget. `retryAfterMs` is the time until the budget renews. */
export class BudgetError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('budget-exceeded', message, details);
  }
}
/** The run reached its limit of model calls without an answer. */
export class MaxIterationsError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('max-iterations', message, details);
  }
}
/** The model repeats the same tool calls without progress. */
export class ToolLoopError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('tool-loop', message, details);
  }
}
/** Every process that took the run over died, without the run making progress. */
export class MaxTakeoversError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('max-takeovers', message, details);
  }
}
/** A bug in Bolide: an entity was asked for a transition that its table does not permit. */
export class IllegalTransitionError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('illegal-transition', message, details);
  }
}
/** A feature needs an optional package that is not installed: `npm install <packageName>` adds it. */
export class MissingPackageError extends LLMError {
  readonly packageName: string;

  /** @param user what needs the package, as the start of a sentence: `The vendor "groq"` */
  constructor(packageName: string, user: string, details?: LLMErrorDetails) {
    super(
      'missing-package',
      `${user} needs the package "${packageName}", which is not installed. Run: npm install ${packageName}`,
      details,
    );
    this.packageName = packageName;
  }
}
/** A request id was used again with other arguments. */
export class ConflictError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('conflict', message, details);
  }
}
/**
 * The database cannot be reached, so nothing that needs it can be done. `retryAfterMs` is the time to wait. Whether a
 * write that was in progress took effect is unknown.
 */
export class StoreUnavailableError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('store-unavailable', message, details);
  }
}

/**
 * The disk of the embedded database is full. What was stored before remains, and so does everything that can be read;
 * writes succeed again, without a restart, once there is room.
 */
export class StorageFullError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('storage-full', message, details);
  }
}

/**
 * `interrupted` is for tools to throw: the tool stopped because its signal fired, and had no effect, so that it may be
 * run again.
 */
export type ToolFailure =
  | 'threw'
  | 'timeout'
  | 'invalid-arguments'
  | 'unknown-tool'
  | 'unserialisable-result'
  | 'rejected'
  | 'cancelled'
  | 'duplicate'
  | 'interrupted';

/** A tool call failed; `failure` states how. The model gets the message. */
export class ToolError extends LLMError {
  readonly failure: ToolFailure;

  constructor(failure: ToolFailure, message: string, details?: LLMErrorDetails) {
    super('tool-failed', message, details);
    this.failure = failure;
  }
}

/** Recognizes the errors of every copy of this module: an app may load the package as an ES module and as CommonJS. */
export function isLLMError(error: unknown): error is LLMError {
  return error instanceof LLMError || (error instanceof Error && BRAND in error);
}

/** Whether the database could not be reached: the work can go on once it can. */
export function isStoreOutage(error: unknown): boolean {
  return isLLMError(error) && error.code === 'store-unavailable';
}

/** The response that was received before the error, if any, for what it has cost. */
export function billedResponse(error: unknown): LLMResponse | undefined {
  if (!isLLMError(error)) return undefined;
  return error.response ?? (error as Partial<GuardrailError>).withheld;
}
