/**
 * What one API token has used in the current minute, and its requests in progress. All functions are pure; times are
 * milliseconds since the epoch.
 */
import { omitUndefined } from '../../ai/domain/util/omitUndefined';
import type { RateLimits, RateLimitState } from '../../ai/domain/types/ApiTokenLimits';

/** What is in progress: a request or a message, or an open stream or WebSocket. */
export type RateHold = 'calls' | 'connections';

/** A request or a model call in progress. */
export interface RateLease {
  readonly id: string;
  /** What it counts as while it is in progress. A model call is a part of what has called it. Absent: `calls`. */
  readonly holds?: RateHold | 'nothing';
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
  /** Tokens of completed requests. */
  readonly tokens: number;
  readonly leases: readonly RateLease[];
}

interface Admitted {
  readonly id: string;
  /** Milliseconds until the lease expires. */
  readonly leaseMs: number;
}

export interface RateRequest extends Admitted {
  readonly holds: RateHold | 'nothing';
}

export interface RateCall extends Admitted {
  /** The most that it is expected to use. */
  readonly tokens: number;
}

export type Admission =
  | { readonly kind: 'admitted'; readonly account: RateAccount }
  | {
      readonly kind: 'refused';
      readonly what: keyof RateLimits;
      readonly holds?: RateHold;
      readonly limit: number;
      readonly used: number;
    };

export const RATE_WINDOW_MS = 60_000;

export function openRates(id: string, now: number): RateAccount {
  return { id, minute: minuteOf(now), requests: 0, tokens: 0, leases: [] };
}

/** Counts a request, and what it holds until it ends, if that is limited. */
export function admitRequest(
  before: RateAccount,
  { id, holds, leaseMs }: RateRequest,
  { requestsPerMinute = Infinity, parallel = Infinity }: RateLimits,
  now: number,
): Admission {
  const account = atTime(before, now);
  const { leases, requests, minute } = account;
  const isHeld = holds !== 'nothing' && parallel < Infinity;
  const held = isHeld ? leases.filter((lease) => (lease.holds ?? 'calls') === holds).length : 0;
  if (isHeld && held >= parallel) return { kind: 'refused', what: 'parallel', holds, limit: parallel, used: held };
  if (requests >= requestsPerMinute)
    return { kind: 'refused', what: 'requestsPerMinute', limit: requestsPerMinute, used: requests };
  const taken = isHeld ? [...leases, { id, holds, minute, tokens: 0, until: now + leaseMs }] : leases;
  return { kind: 'admitted', account: { ...account, requests: requests + 1, leases: taken } };
}

/** A call that is expected to need more tokens than the limit is admitted if nothing else was used in the minute. */
export function reserveTokens(
  before: RateAccount,
  call: RateCall,
  { tokensPerMinute = Infinity }: RateLimits,
  now: number,
): Admission {
  const account = atTime(before, now);
  const { leases, minute } = account;
  const tokens = Math.min(call.tokens, tokensPerMinute);
  const used = tokensUsed(account);
  if (used + tokens > tokensPerMinute || used >= tokensPerMinute)
    return { kind: 'refused', what: 'tokensPerMinute', limit: tokensPerMinute, used };
  const lease = { id: call.id, holds: 'nothing', minute, tokens, until: now + call.leaseMs } as const;
  return { kind: 'admitted', account: { ...account, leases: [...leases, lease] } };
}

/**
 * Ends a request or a call. Its tokens count in the minute in which it was admitted; after that minute, what exceeds
 * the reservation counts in the current one.
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

/** Extends the leases of what is still in progress. */
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
  return omitUndefined({
    requests: requestsPerMinute === undefined ? undefined : left(requestsPerMinute, account.requests),
    tokens: tokensPerMinute === undefined ? undefined : left(tokensPerMinute, tokensUsed(account)),
    resetsAt,
    resetsInMs: Math.max(1, resetsAt - now),
  });
}

/** Sums the tokens of completed requests and those reserved in this minute. */
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
