/**
 * Limits how often callers may present invalid tokens, by address and in total. Tokens that have been valid are not
 * limited, so that nobody is locked out by others behind the same proxy.
 */
import type { IncomingMessage } from 'node:http';
import { LLMRateLimitError } from '../../business/ai/domain/errors/LLMErrors';
import { clientNetwork } from './clientNetwork';
import { presentedToken } from './presentedToken';

/** Invalid tokens per minute, in this process. */
export interface AuthFailureLimits {
  readonly perAddress: number;
  /** Addresses with a valid token in the meantime are exempt. */
  readonly total: number;
}

export const DEFAULT_AUTH_FAILURE_LIMITS: AuthFailureLimits = { perAddress: 100, total: 2_000 };

export interface AuthFailureLimiterOptions {
  readonly limits?: Partial<AuthFailureLimits>;
  /** How many proxies in front of the server append to `x-forwarded-for`. Default: 0, the header is ignored. */
  readonly forwardedCount?: number;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

const WINDOW_MS = 60_000;
const MAX_REMEMBERED = 10_000;

export class AuthFailureLimiter {
  private readonly limits: AuthFailureLimits;
  private readonly forwardedCount: number;
  private readonly now: () => number;
  private readonly validTokens = new Set<string>();
  private readonly validAddresses = new Set<string>();
  /** Failures in the current window, by address. */
  private failures = new Map<string, number>();
  private total = 0;
  private windowEnd = 0;

  constructor({ limits = {}, forwardedCount = 0, now = Date.now }: AuthFailureLimiterOptions = {}) {
    this.limits = { ...DEFAULT_AUTH_FAILURE_LIMITS, ...limits };
    this.forwardedCount = forwardedCount;
    this.now = now;
  }

  /**
   * Authenticates the requests that the limits allow.
   * @returns like `authenticate`, but throws LLMRateLimitError
   */
  limit<P>(
    authenticate: (request: IncomingMessage) => Promise<P | undefined> | P | undefined,
  ): (request: IncomingMessage) => Promise<P | undefined> {
    return (request) => {
      const token = presentedToken(request);
      return token === undefined
        ? Promise.resolve(authenticate(request))
        : this.verify(request, token, () => authenticate(request));
    };
  }

  /**
   * @param verify is not called once a limit is reached
   * @throws LLMRateLimitError
   */
  async verify<P>(
    request: IncomingMessage,
    token: string,
    verify: () => Promise<P | undefined> | P | undefined,
  ): Promise<P | undefined> {
    const isKnown = this.validTokens.has(token);
    if (!isKnown) this.assertAllowed(request);
    const verified = await verify();
    if (verified === undefined) {
      this.validTokens.delete(token);
      this.countFailure(request);
    } else if (!isKnown) {
      remember(this.validTokens, token);
      remember(this.validAddresses, this.addressOf(request));
    }
    return verified;
  }

  /** @throws LLMRateLimitError if the request's address may not present a new token now */
  assertAllowed(request: IncomingMessage): void {
    const now = this.now();
    if (now >= this.windowEnd) {
      this.failures = new Map();
      this.total = 0;
      this.windowEnd = now + WINDOW_MS;
    }
    if (this.total === 0) return;
    const address = this.addressOf(request);
    const isAllowed =
      (this.failures.get(address) ?? 0) < this.limits.perAddress &&
      (this.total < this.limits.total || this.validAddresses.has(address));
    if (!isAllowed)
      throw new LLMRateLimitError('Too many requests came with an invalid API token. Wait, and check your token.', {
        retryAfterMs: this.windowEnd - now,
      });
  }

  /** Counts another way to fail than an invalid token. */
  countFailure(request: IncomingMessage): void {
    const address = this.addressOf(request);
    this.failures.set(address, (this.failures.get(address) ?? 0) + 1);
    this.total += 1;
  }

  private addressOf(request: IncomingMessage): string {
    return clientNetwork(request, this.forwardedCount);
  }
}

/** The oldest are forgotten. */
function remember(set: Set<string>, value: string): void {
  set.add(value);
  if (set.size <= MAX_REMEMBERED) return;
  for (const oldest of set) {
    set.delete(oldest);
    return;
  }
}
