/** Enforces how much of a provider one user may use in a window, across all processes. */
import { LLMRateLimitError } from '../../ai/domain/errors/LLMErrors';
import type { Provider } from '../domain/entities/Provider';
import type { UsageStore } from '../domain/interfaces/UsageStore';

export class UsageLimits {
  private readonly store: UsageStore;

  constructor(store: UsageStore) {
    this.store = store;
  }

  /** Counts one request. @throws LLMRateLimitError, with the time until the next window, if a limit is reached */
  async admit({ _id, name, limits }: Provider, userId: string): Promise<void> {
    if (limits === undefined) return;
    const retryAfterMs = await this.store.admit(_id, userId, limits);
    if (retryAfterMs === 0) return;
    throw new LLMRateLimitError(`You have reached your usage limit for "${name}". Try again later.`, {
      retryable: false,
      retryAfterMs,
    });
  }

  /** Tokens are counted after they were used, so the call that exceeds the limit is the last one in its window. */
  async recordTokens({ _id, limits }: Provider, userId: string, tokens: number): Promise<void> {
    if (limits?.tokens === undefined || !(tokens > 0)) return;
    await this.store.addTokens(_id, userId, tokens, limits.windowMs);
  }
}
