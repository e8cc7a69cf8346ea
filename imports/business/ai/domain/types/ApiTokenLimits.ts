/** What an API token may use, beyond the scopes and budgets of its owner. An absent limit does not limit. */
import type { BudgetLimits } from '../entities/BudgetAccount';

export interface RateLimits {
  readonly requestsPerMinute?: number | undefined;
  readonly tokensPerMinute?: number | undefined;
  /** Requests in progress at a time. */
  readonly parallel?: number | undefined;
}

export interface ApiTokenLimits {
  /** Names and patterns of models: see `entities/modelPatterns`. */
  readonly models?: readonly string[];
  /** Names of the server's tools, and of tools that run at vendors, such as `web_search`. Empty: none. */
  readonly tools?: readonly string[];
  readonly budgets?: BudgetLimits;
  readonly rateLimits?: RateLimits;
}

/** An API token, as model calls are checked against it. Times are milliseconds since the epoch. */
export interface LimitedToken extends ApiTokenLimits {
  readonly name: string;
  /** The team whose budget the token's calls count towards, too. */
  readonly team?: string;
  readonly expiresAt?: number;
  readonly revokedAt?: number;
}

/** How much of a token's rate limits is left in this minute. */
export interface RateLimitState {
  readonly requests?: { readonly limit: number; readonly remaining: number };
  readonly tokens?: { readonly limit: number; readonly remaining: number };
  /** When the minute ends, in milliseconds since the epoch, and how long that is from now. */
  readonly resetsAt: number;
  readonly resetsInMs: number;
}
