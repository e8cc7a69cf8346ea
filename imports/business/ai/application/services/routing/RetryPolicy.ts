/** When a failed attempt is made again, after how long, and which failures another provider may mend. */
import { LLMInvalidRequestError } from '../../../domain/errors/LLMErrors';
import type { ErrorCode, LLMError } from '../../../domain/errors/LLMErrors';
import type { LLMResponse } from '../../../domain/types/ResponsesAPITypes';

export interface RetrySettings {
  /** Attempts at one provider, the first included. */
  readonly maxAttempts: number;
  /** Longest wait before the first retry, in milliseconds; it doubles with each. */
  readonly baseDelay: number;
  /** Milliseconds. */
  readonly maxDelay: number;
  /** A vendor that asks for a longer wait than this, in milliseconds, is not asked again. */
  readonly maxRetryAfter: number;
  /** Retries that a provider may be sent at once beyond its share. */
  readonly budget: number;
  /** Retries that every request adds to the budget. */
  readonly budgetPerRequest: number;
  /** Consecutive failures of the host after which it is left alone. */
  readonly breakerFailures: number;
  /** For how long, in milliseconds. */
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

/** @throws LLMInvalidRequestError for a setting that would make retries endless or the waits senseless */
export function retrySettings(wanted: Partial<RetrySettings> = {}): RetrySettings {
  const settings = { ...DEFAULT_RETRY, ...wanted };
  for (const [name, value] of Object.entries(settings)) {
    const isCount = name === 'maxAttempts' || name === 'breakerFailures';
    if (isCount ? !Number.isSafeInteger(value) || value < 1 : !Number.isFinite(value) || value < 0) {
      throw new LLMInvalidRequestError(
        `${name} must be a ${isCount ? 'positive whole' : 'finite'} number, not ${value}`,
        { path: `retry.${name}` },
      );
    }
  }
  return settings;
}

/**
 * Milliseconds to wait before the next attempt, or `undefined` when there is none. Full jitter: anywhere from
 * nothing to the doubled base, but never sooner than the vendor asked.
 * @param attempts how many were made
 * @param random from 0 to 1
 */
export function retryDelay(
  error: LLMError,
  attempts: number,
  settings: RetrySettings,
  random: () => number,
): number | undefined {
  if (!error.retryable || attempts >= settings.maxAttempts || ranServerTool(error.response)) return undefined;
  const asked = error.retryAfterMs ?? 0;
  if (asked > settings.maxRetryAfter) return undefined;
  const longest = Math.min(settings.maxDelay, settings.baseDelay * 2 ** (attempts - 1));
  return Math.max(asked, random() * longest);
}

/**
 * What an error speaks of: `host` counts against its circuit, `provider` may be mended by another one, `request` by
 * none.
 */
const SUBJECT = {
  'connection-failed': 'host',
  overloaded: 'host',
  'vendor-error': 'host',
  timeout: 'host',
  'stream-broken': 'host',
  'auth-failed': 'provider',
  'permission-denied': 'provider',
  'rate-limited': 'provider',
  'quota-exceeded': 'provider',
  'invalid-request': 'request',
  'model-not-found': 'request',
  'context-too-long': 'request',
  'unsupported-feature': 'request',
  refused: 'request',
  'content-filtered': 'request',
  incomplete: 'request',
  'invalid-output': 'request',
  aborted: 'request',
  'budget-exceeded': 'request',
  'max-iterations': 'request',
  'tool-loop': 'request',
  'max-takeovers': 'request',
  'illegal-transition': 'request',
  conflict: 'request',
  'tool-failed': 'request',
} as const satisfies Record<ErrorCode, 'host' | 'provider' | 'request'>;

/**
 * Whether the host, not this request or account, seems to be ill. A vendor that says "don't retry" speaks of the
 * request.
 */
export function isHostFailure(error: LLMError): boolean {
  return SUBJECT[error.code] === 'host' && error.retryable;
}

/** Whether another provider may succeed: the host is ill, or this account is refused, throttled or used up. */
export function mayFallBack(error: LLMError): boolean {
  return SUBJECT[error.code] !== 'request' && !ranServerTool(error.response);
}

const OWN_OUTPUT = new Set<string>(['message', 'reasoning', 'function_call', 'compaction']);

/** Anything else in an output was done by the vendor's server, and may not be done twice. */
function ranServerTool(response: LLMResponse | undefined): boolean {
  return response?.output.some((item) => !OWN_OUTPUT.has(item.type)) ?? false;
}
