/** When a failed attempt is retried, after which delay, and which failures another provider may avoid. */
import { isStoreOutage, LLMInvalidRequestError } from '../../../domain/errors/LLMErrors';
import type { ErrorCode, LLMError } from '../../../domain/errors/LLMErrors';
import type { LLMResponse } from '../../../domain/types/ResponsesAPITypes';

/** All times are in milliseconds. */
export interface RetrySettings {
  /** Attempts at one provider, the first included. */
  readonly maxAttempts: number;
  /** Upper bound of the delay before the first retry; it doubles with each further retry. */
  readonly baseDelay: number;
  readonly maxDelay: number;
  /** A vendor that asks for a longer wait than this is not retried. */
  readonly maxRetryAfter: number;
  /** Size of the retry token bucket: retries that a provider may be sent in a burst. */
  readonly budget: number;
  /** Retry tokens that each request adds to the bucket. */
  readonly budgetPerRequest: number;
  /** Consecutive failures that open a provider's circuit. */
  readonly breakerFailures: number;
  /** How long an open circuit rejects calls. */
  readonly breakerOpenFor: number;
}

export const DEFAULT_RETRY: RetrySettings = {
  maxAttempts: 3,
  baseDelay: 500,
  maxDelay: 8_000,
  maxRetryAfter: 60_000,
  budget: 10,
  budgetPerRequest: 0.1,
  breakerFailures: 5,
  breakerOpenFor: 30_000,
};

/** @throws LLMInvalidRequestError for a setting that would make retries endless or delays meaningless */
export function retrySettings(given: Partial<RetrySettings> = {}): RetrySettings {
  const settings = { ...DEFAULT_RETRY, ...given };
  for (const [name, value] of Object.entries(settings)) {
    const isCount = name === 'maxAttempts' || name === 'breakerFailures';
    if (isCount ? !Number.isSafeInteger(value) || value < 1 : !Number.isFinite(value) || value < 0) {
      throw new LLMInvalidRequestError(
        `"retry.${name}" must be ${isCount ? 'a positive integer' : 'a finite number from 0'}, not ${value}.`,
        { path: `retry.${name}` },
      );
    }
  }
  return settings;
}

/**
 * Milliseconds to wait before the next attempt, or `undefined` if there must be none. Full jitter: between 0 and the
 * doubled base delay, but never less than the vendor's `Retry-After`.
 * @param attempts attempts made so far
 * @param random from 0 to 1
 */
export function retryDelay(
  error: LLMError,
  attempts: number,
  settings: RetrySettings,
  random: () => number,
): number | undefined {
  if (!error.retryable || attempts >= settings.maxAttempts || ranServerTool(error.response)) return undefined;
  // Runs wait for the database themselves; everybody else is told at once.
  if (isStoreOutage(error)) return undefined;
  const retryAfterMs = error.retryAfterMs ?? 0;
  if (retryAfterMs > settings.maxRetryAfter) return undefined;
  const maxDelay = Math.min(settings.maxDelay, settings.baseDelay * 2 ** (attempts - 1));
  return Math.max(retryAfterMs, random() * maxDelay);
}

/**
 * What caused an error. An `outage` counts against the provider's circuit; another provider may avoid an `outage` or
 * an `account` failure; a `request` failure would repeat everywhere.
 */
const CAUSES = {
  'connection-failed': 'outage',
  overloaded: 'outage',
  'vendor-error': 'outage',
  timeout: 'outage',
  'stream-broken': 'outage',
  'auth-failed': 'account',
  'permission-denied': 'account',
  'rate-limited': 'account',
  'quota-exceeded': 'account',
  'invalid-request': 'request',
  'model-not-found': 'request',
  'context-too-long': 'request',
  'unsupported-feature': 'request',
  refused: 'request',
  'content-filtered': 'request',
  'guardrail-denied': 'request',
  'guardrail-failed': 'request',
  incomplete: 'request',
  'invalid-output': 'request',
  aborted: 'request',
  'budget-exceeded': 'request',
  'max-iterations': 'request',
  'tool-loop': 'request',
  'max-takeovers': 'request',
  'illegal-transition': 'request',
  'missing-package': 'request',
  conflict: 'request',
  // Another provider needs the same database.
  'store-unavailable': 'request',
  'tool-failed': 'request',
  'storage-full': 'request',
} as const satisfies Record<ErrorCode, 'outage' | 'account' | 'request'>;

/** Whether the provider itself is failing. A vendor that forbids a retry is objecting to the request. */
export function isOutage(error: LLMError): boolean {
  return CAUSES[error.code] === 'outage' && error.retryable;
}

/** Whether another provider may succeed: this one is failing, or its account is rejected, throttled or used up. */
export function canFallBack(error: LLMError): boolean {
  return CAUSES[error.code] !== 'request' && !ranServerTool(error.response);
}

/** Failures of a request that another model may not have. */
const OF_THE_MODEL: ReadonlySet<ErrorCode> = new Set(['model-not-found', 'context-too-long', 'unsupported-feature']);

/** Whether another target of a routing rule may succeed, which may be another model of any provider. */
export function anotherModelMayServe(error: LLMError): boolean {
  return canFallBack(error) || (OF_THE_MODEL.has(error.code) && !ranServerTool(error.response));
}

const MODEL_OUTPUT = new Set<string>(['message', 'reasoning', 'function_call', 'compaction']);

/** Any other output item was produced by a tool on the vendor's server, which must not run twice. */
function ranServerTool(response: LLMResponse | undefined): boolean {
  return response?.output.some((item) => !MODEL_OUTPUT.has(item.type)) ?? false;
}

/** A token bucket that limits retries to a share of the requests, so that retries never pile onto an outage. */
export class RetryBudget {
  private readonly capacity: number;
  private readonly perRequest: number;
  private tokens: number;

  /** @param perRequest tokens that a request adds; a retry costs one */
  constructor(capacity: number, perRequest: number) {
    this.capacity = capacity;
    this.perRequest = perRequest;
    this.tokens = capacity;
  }

  addRequest(): void {
    // Rounded, so that ten times 0.1 makes exactly 1.
    this.tokens = Math.min(this.capacity, Math.round((this.tokens + this.perRequest) * 1e6) / 1e6);
  }

  /** @returns whether one more retry may be made; its token is then spent */
  takeRetry(): boolean {
    if (this.tokens < 1) return false;
    this.tokens -= 1;
    return true;
  }
}
