/**
 * Limits the requests, tokens and parallel requests of API tokens at the gateway, for all processes together. Runs that
 * a token has started are limited by budgets only.
 */
import { randomUUID } from 'node:crypto';
import { consoleLogger } from '../../../domain/consoleLogger';
import { admit, finish, openRates, rateLimitState, renew } from '../../../domain/entities/RateAccount';
import type { Admission, RateAccount } from '../../../domain/entities/RateAccount';
import { LLMRateLimitError } from '../../../domain/errors/LLMErrors';
import type { AccountStore } from '../../../domain/interfaces/AccountStore';
import type { Logger } from '../../../domain/interfaces/Logger';
import type { RateLimits } from '../../../domain/types/ApiTokenLimits';
import { AccountLedger } from '../budgets/AccountLedger';
import type { CallLimiter, LimitedCall, ReservationHandle } from '../budgets/CallLimiter';
import type { TokenPolicy } from './TokenPolicy';

export interface TokenRateLimiterOptions {
  readonly policy: TokenPolicy;
  readonly store: AccountStore<RateAccount>;
  /** Milliseconds after which the requests in progress of a dead process no longer count. Default: a minute. */
  readonly lease?: number;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  readonly logger?: Logger;
}

const DEFAULT_LEASE_MS = 60_000;
/** Nobody knows when a request in progress ends. */
const PARALLEL_RETRY_MS = 1_000;

export class TokenRateLimiter implements CallLimiter {
  private readonly policy: TokenPolicy;
  private readonly leaseMs: number;
  private readonly now: () => number;
  private readonly logger: Logger;
  private readonly ledger: AccountLedger<RateAccount>;
  /** Requests in progress of this process, by token. */
  private readonly running = new Map<string, Set<string>>();
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor({
    policy,
    store,
    lease = DEFAULT_LEASE_MS,
    now = Date.now,
    logger = consoleLogger,
  }: TokenRateLimiterOptions) {
    this.policy = policy;
    this.leaseMs = lease;
    this.now = now;
    this.logger = logger;
    this.ledger = new AccountLedger({ store, open: (id) => openRates(id, now()), kind: 'the rates of the API token' });
  }

  /**
   * @throws LLMRateLimitError with `retryAfterMs`
   * @throws whatever the store throws, since a limit that can't be read can't be enforced
   */
  async admit({ options, expected }: LimitedCall): Promise<ReservationHandle | undefined> {
    const { source, tokenId } = options.origin ?? {};
    if (source !== 'gateway' || tokenId === undefined) return undefined;
    const token = await this.policy.find(tokenId);
    const limits = token?.rateLimits;
    if (limits === undefined || Object.keys(limits).length === 0) return undefined;
    const id = randomUUID();
    const tokens = limits.tokensPerMinute === undefined ? 0 : expected().total_tokens;
    const { admission, state } = await this.ledger.change(tokenId, (before) => {
      const now = this.now();
      const result = admit(before, { id, tokens, leaseMs: this.leaseMs }, limits, now);
      const account = result.kind === 'admitted' ? result.account : before;
      return { account, result: { admission: result, state: rateLimitState(account, limits, now) } };
    });
    options.onRateLimits?.(state);
    if (admission.kind === 'refused') throw refusal(token?.name ?? '', admission, state.resetsInMs);
    this.track(tokenId, id);
    return this.handleOf(tokenId, id);
  }

  private handleOf(tokenId: string, id: string): ReservationHandle {
    const end = async (tokens: number): Promise<void> => {
      if (!this.untrack(tokenId, id)) return;
      try {
        await this.ledger.change(tokenId, (before) => ({
          account: finish(before, id, tokens, this.now()),
          result: undefined,
        }));
      } catch (error) {
        // The response must not be lost with its count. The request stops counting when its lease expires.
        this.logger.error(`Could not record the end of a request of the API token "${tokenId}".`, error);
      }
    };
    return { settle: ({ tokens }) => end(tokens), release: () => end(0) };
  }

  private track(tokenId: string, id: string): void {
    const ids = this.running.get(tokenId) ?? new Set();
    this.running.set(tokenId, ids.add(id));
    this.timer ??= setInterval(() => this.renewAll(), this.leaseMs / 3).unref();
  }

  /** @returns whether the request was in progress */
  private untrack(tokenId: string, id: string): boolean {
    const ids = this.running.get(tokenId);
    const wasRunning = ids?.delete(id) ?? false;
    if (ids?.size === 0) this.running.delete(tokenId);
    if (this.running.size === 0) {
      clearInterval(this.timer);
      this.timer = undefined;
    }
    return wasRunning;
  }

  private renewAll(): void {
    for (const [tokenId, ids] of this.running) {
      const until = this.now() + this.leaseMs;
      this.ledger
        .change(tokenId, (before) => ({ account: renew(before, ids, until, this.now()), result: undefined }))
        .catch((error: unknown) =>
          this.logger.warn(`Could not renew the requests in progress of the API token "${tokenId}".`, error),
        );
    }
  }
}

function refusal(
  name: string,
  { what, limit, used }: Extract<Admission, { kind: 'refused' }>,
  resetsInMs: number,
): LLMRateLimitError {
  const isParallel = what === 'parallel';
  const rest = isParallel
    ? `${used} are in progress. Wait for one to end.`
    : `${used} are used. The next minute begins in ${Math.ceil(resetsInMs / 1_000)} s.`;
  return new LLMRateLimitError(`The API token "${name}" is limited to ${formatLimit(what, limit)}: ${rest}`, {
    retryAfterMs: isParallel ? PARALLEL_RETRY_MS : resetsInMs,
  });
}

function formatLimit(what: keyof RateLimits, limit: number): string {
  const s = limit === 1 ? '' : 's';
  switch (what) {
    case 'requestsPerMinute':
      return `${limit} request${s} per minute`;
    case 'tokensPerMinute':
      return `${limit} token${s} per minute`;
    case 'parallel':
      return `${limit} request${s} at a time`;
  }
}
