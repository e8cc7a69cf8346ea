/**
 * What one user may do in a minute and at a time, by all ways in and in all processes together. Infinity: as much as
 * they like.
 */
export interface UserLimits {
  readonly requestsPerMinute: number;
  /** Tokens of model calls, whatever starts them. */
  readonly tokensPerMinute: number;
  /** Requests, messages on WebSockets and methods in progress. */
  readonly parallelCalls: number;
  /** Open streams of events, WebSockets and subscriptions. */
  readonly connections: number;
  /** Messages that were accepted and are not answered yet. */
  readonly queuedMessages: number;
}

export const DEFAULT_USER_LIMITS: UserLimits = {
  requestsPerMinute: 1_200,
  tokensPerMinute: Infinity,
  parallelCalls: 64,
  connections: 64,
  queuedMessages: 1_000,
};
