/**
 * How much of a provider one user may use in a window, counted in the store: every process counts to the same
 * number.
 */
import { LLMRateLimitError } from '../../ai/domain/errors/LLMErrors';
import type { Provider, ProviderLimits } from '../domain/entities/Provider';
import type { Clock } from '../domain/interfaces/Clock';
import type { UsageStore, UsageWindow } from '../domain/interfaces/UsageStore';

export class UsageLimits {
  private readonly store: UsageStore;
  private readonly clock: Clock;

  constructor(store: UsageStore, clock: Clock) {
    this.store = store;
    this.clock = clock;
  }

  /** Counts one request. @throws LLMRateLimitError, not to be retried before its time, when the window is used up */
  async admit({ _id, name, limits }: Provider, userId: string): Promise<void> {
    if (limits === undefined) return;
    const window = this.window(_id, userId, limits);
    if (await this.store.admit(window, limits)) return;
    const retryAfterMs = Math.max(window.end - this.clock.now(), 1);
    throw new LLMRateLimitError(`Your share of '${name}' is used up for now.`, { retryable: false, retryAfterMs });
  }

  /** Tokens are known when they are spent: the call that goes over the limit is the window's last. */
  async recordTokens({ _id, limits }: Provider, userId: string, tokens: number): Promise<void> {
    if (limits?.tokens === undefined || !(tokens > 0)) return;
    await this.store.addTokens(this.window(_id, userId, limits), tokens);
  }

  private window(providerId: string, userId: string, { windowMs }: ProviderLimits): UsageWindow {
    const start = Math.floor(this.clock.now() / windowMs) * windowMs;
    return { providerId, userId, start, end: start + windowMs };
  }
}
