/**
 * What one API token has used in the current minute, and its requests in progress. All functions are pure; times are
 * milliseconds since the epoch.
 */
import type { RateLimits, RateLimitState } from '../types/ApiTokenLimits';

/** A request in progress. */
export interface RateLease {
  readonly id: string;
  /** The start of the minute in which it was admitted, and the tokens reserved there. */
  readonly minute: number;
  readonly tokens: number;
  /** When it expires unless renewed: its process is dead then. */
  readonly until: number;
}

export interface RateAccount {
  readonly id: string;
  /** The start of the minute that `requests` and `tokens` count. */
  readonly minute: number;
  /** Admitted ones, whether completed or not. */
  readonly requests: number;
  /** Of completed requests. */
  readonly tokens: number;
  readonly leases: readonly RateLease[];
}

export interface RateRequest {
  readonly id: string;
  /** The most that it is expected to use. */
  readonly tokens: number;
  /** Milliseconds until the lease expires. */
  readonly leaseMs: number;
}

export type Admission =
  | { readonly kind: 'admitted'; readonly account: RateAccount }
  | { readonly kind: 'refused'; readonly what: keyof RateLimits; readonly limit: number; readonly used: number };

export const RATE_WINDOW_MS = 60_000;

export function openRates(id: string, now: number): RateAccount {
  return { id, minute: minuteOf(now), requests: 0, tokens: 0, leases: [] };
}

/** A request that is expected to need more tokens than the limit is admitted if nothing else was used in the minute. */
export function admit(before: RateAccount, request: RateRequest, limits: RateLimits, now: number): Admission {
  const account = atTime(before, now);
  const { requestsPerMinute = Infinity, tokensPerMinute = Infinity, parallel = Infinity } = limits;
  const { leases, requests, minute } = account;
  if (leases.length >= parallel) return { kind: 'refused', what: 'parallel', limit: parallel, used: leases.length };
  if (requests >= requestsPerMinute)
    return { kind: 'refused', what: 'requestsPerMinute', limit: requestsPerMinute, used: requests };
  const tokens = Math.min(request.tokens, tokensPerMinute);
  const used = tokensUsed(account);
  if (used + tokens > tokensPerMinute || used >= tokensPerMinute)
    return { kind: 'refused', what: 'tokensPerMinute', limit: tokensPerMinute, used };
  const lease = { id: request.id, minute, tokens, until: now + request.leaseMs };
  return { kind: 'admitted', account: { ...account, requests: requests + 1, leases: [...leases, lease] } };
}

/**
 * Ends a request. Its tokens count in the minute in which it was admitted; after that minute, what exceeds the
 * reservation counts in the current one.
 */
export function finish(before: RateAccount, id: string, tokens: number, now: number): RateAccount {
  const account = atTime(before, now);
  const lease = before.leases.find((each) => each.id === id);
  // An expired lease is not known any more; its tokens were used all the same.
  const isOver = lease !== undefined && lease.minute !== account.minute;
  const counted = isOver ? Math.max(0, tokens - lease.tokens) : tokens;
  return {
    ...account,
    tokens: account.tokens + counted,
    leases: account.leases.filter((each) => each.id !== id),
  };
}

/** Extends the leases of requests that are still in progress. */
export function renew(before: RateAccount, ids: ReadonlySet<string>, until: number, now: number): RateAccount {
  const account = atTime(before, now);
  return { ...account, leases: account.leases.map((lease) => (ids.has(lease.id) ? { ...lease, until } : lease)) };
}

export function rateLimitState(before: RateAccount, limits: RateLimits, now: number): RateLimitState {
  const account = atTime(before, now);
  const { requestsPerMinute, tokensPerMinute } = limits;
  const left = (limit: number, used: number): { readonly limit: number; readonly remaining: number } => ({
    limit,
    remaining: Math.max(0, limit - used),
  });
  const resetsAt = account.minute + RATE_WINDOW_MS;
  return {
    ...(requestsPerMinute === undefined ? {} : { requests: left(requestsPerMinute, account.requests) }),
    ...(tokensPerMinute === undefined ? {} : { tokens: left(tokensPerMinute, tokensUsed(account)) }),
    resetsAt,
    resetsInMs: Math.max(1, resetsAt - now),
  };
}

/** Those of completed requests and those reserved in this minute. */
function tokensUsed({ minute, tokens, leases }: RateAccount): number {
  return leases.reduce((sum, lease) => (lease.minute === minute ? sum + lease.tokens : sum), tokens);
}

/** A clock that lags behind never reopens an earlier minute. */
function atTime(account: RateAccount, now: number): RateAccount {
  const leases = account.leases.filter(({ until }) => until > now);
  const minute = minuteOf(now);
  return minute > account.minute ? { ...account, minute, requests: 0, tokens: 0, leases } : { ...account, leases };
}

function minuteOf(now: number): number {
  return Math.floor(now / RATE_WINDOW_MS) * RATE_WINDOW_MS;
}
