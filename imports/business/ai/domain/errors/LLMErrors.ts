/** One family of errors: the code is a promise, the message is for people, the cause is kept on the server. */
import type { Item, LLMResponse, Usage } from '../types/ResponsesAPITypes';
import type { JsonObject } from '../types/VendorTypes';

/** Code → HTTP status and whether the same request may succeed if it is sent again. */
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
  incomplete: { http: 422, retryable: false },
  'invalid-output': { http: 422, retryable: false },
  aborted: { http: 499, retryable: false },
  'budget-exceeded': { http: 402, retryable: false },
  'max-iterations': { http: 422, retryable: false },
  'tool-loop': { http: 422, retryable: false },
  'max-takeovers': { http: 500, retryable: false },
  'illegal-transition': { http: 500, retryable: false },
  conflict: { http: 409, retryable: false },
  'tool-failed': { http: 500, retryable: false },
} as const satisfies Record<string, { http: number; retryable: boolean }>;
export type ErrorCode = keyof typeof ERROR_TABLE;

export interface LLMErrorDetails {
  readonly cause?: unknown;
  /** Overrides the table where the vendor says otherwise. */
  readonly retryable?: boolean;
  /** HTTP status of the vendor's answer. */
  readonly status?: number;
  readonly vendor?: string;
  /** The vendor's own error code or type, verbatim. */
  readonly vendorCode?: string;
  /**
   * The vendor's error body, with what looks like a secret blotted out; only for clients that speak the vendor's
   * own API.
   */
  readonly vendorBody?: JsonObject;
  readonly requestId?: string;
  /** Headers of the vendor's answer that its clients look at; only for clients that speak the vendor's own API. */
  readonly vendorHeaders?: Readonly<Record<string, string>>;
  readonly retryAfterMs?: number;
  /** The response, where there was one. */
  readonly response?: LLMResponse;
  /** JSON path of what is wrong in the request. */
  readonly path?: string;
}

/** What a run had done when an error ended it; `runOf` in `entities/Run` gives it with its full type. */
export interface EndedRun {
  readonly executionId: string;
  readonly usage: Usage;
  readonly iterations: number;
  readonly transcript: readonly Item[];
}

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
  readonly response?: LLMResponse;
  readonly path?: string;
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

  /** HTTP status that tells a client of this app the same thing. */
  get httpStatus(): number {
    return ERROR_TABLE[this.code].http;
  }
}

export class LLMAuthError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('auth-failed', message, details);
  }
}
export class LLMPermissionError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('permission-denied', message, details);
  }
}
/** `path` says where the request is wrong. */
export class LLMInvalidRequestError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('invalid-request', message, details);
  }
}
export class LLMModelNotFoundError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('model-not-found', message, details);
  }
}
export class LLMContextLengthError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('context-too-long', message, details);
  }
}
/** The vendor, model or wire has no way to say what was asked; thrown before any call. */
export class UnsupportedFeatureError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('unsupported-feature', message, details);
  }
}
export class LLMRateLimitError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('rate-limited', message, details);
  }
}
export class LLMQuotaError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('quota-exceeded', message, details);
  }
}
export class LLMOverloadedError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('overloaded', message, details);
  }
}
export class LLMServerError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('vendor-error', message, details);
  }
}
export class LLMConnectionError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('connection-failed', message, details);
  }
}
export class LLMTimeoutError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('timeout', message, details);
  }
}
/** A body or stream that is not what its wire promises: cut off, not JSON, without its end marker. */
export class LLMStreamError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('stream-broken', message, details);
  }
}
export class LLMRefusalError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('refused', message, details);
  }
}
export class LLMContentFilterError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('content-filtered', message, details);
  }
}
export class LLMIncompleteError extends LLMError {
  /** Why the answer stopped, e.g. `max_output_tokens`. */
  readonly reason: string;

  constructor(message: string, details: LLMErrorDetails & { readonly reason: string }) {
    super('incomplete', message, details);
    this.reason = details.reason;
  }
}
export class StructuredOutputError extends LLMError {
  /** Where and how the answer breaks the schema. */
  readonly violations: readonly { readonly path: string; readonly message: string }[];
  /** What the model wrote. */
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
export class LLMAbortedError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('aborted', message, details);
  }
}
export class BudgetError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('budget-exceeded', message, details);
  }
}
export class MaxIterationsError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('max-iterations', message, details);
  }
}
export class ToolLoopError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('tool-loop', message, details);
  }
}
/** Process after process that had the run came to its end, and the run got no further. */
export class MaxTakeoversError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('max-takeovers', message, details);
  }
}
/** A bug in this program: an entity was asked to make a move that its table does not have. */
export class IllegalTransitionError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('illegal-transition', message, details);
  }
}
/** A request id was used again with other arguments. */
export class ConflictError extends LLMError {
  constructor(message: string, details?: LLMErrorDetails) {
    super('conflict', message, details);
  }
}

export type ToolFailure =
  | 'threw'
  | 'timeout'
  | 'invalid-arguments'
  | 'unknown-tool'
  | 'unserialisable-result'
  | 'rejected'
  | 'cancelled'
  | 'duplicate';

/** A tool call that did not succeed. The message is what the model is told. */
export class ToolError extends LLMError {
  readonly failure: ToolFailure;

  constructor(failure: ToolFailure, message: string, details?: LLMErrorDetails) {
    super('tool-failed', message, details);
    this.failure = failure;
  }
}

export function isLLMError(error: unknown): error is LLMError {
  return error instanceof LLMError;
}
