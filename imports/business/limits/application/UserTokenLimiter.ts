/** Limits the tokens per minute of each user's model calls: those of the gateway, of runs and of chats together. */
import type { CallLimiter, LimitedCall, ReservationHandle } from './CallLimiter';
import type { UserLimiter } from './UserLimiter';

export class UserTokenLimiter implements CallLimiter {
  private readonly limiter: Pick<UserLimiter, 'reserveTokens'>;

  constructor(limiter: Pick<UserLimiter, 'reserveTokens'>) {
    this.limiter = limiter;
  }

  /** @throws LLMRateLimitError with `retryAfterMs`; what the store throws */
  async admit({ userId, options, expected }: LimitedCall): Promise<ReservationHandle | undefined> {
    // Vendors do not count batches against limits per minute either.
    if (options.batch !== undefined) return undefined;
    const reserved = expected().total_tokens;
    const settle = await this.limiter.reserveTokens(userId, reserved);
    const end = (tokens: number): undefined => {
      settle(tokens);
    };
    return {
      settle: ({ tokens }) => end(tokens),
      leave: ({ tokens }) => end(Math.max(tokens, reserved)),
      release: () => end(0),
    };
  }
}
