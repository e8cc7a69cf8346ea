/**
 * Keeps API tokens within their rates, for all processes together: requests by every way in, and the tokens of all
 * model calls.
 */
import { randomUUID } from 'node:crypto';
import { consoleLogger } from '../../../log/consoleLogger';
import { admitRequest, finish, openRates, rateLimitState, renew, reserveTokens } from '../domain/RateAccount';
import type { Admission, RateAccount, RateHold } from '../domain/RateAccount';
import { LLMRateLimitError } from '../../ai/domain/errors/LLMErrors';
import type { AccountStore } from '../domain/AccountStore';
import type { Logger } from '../../ai/domain/interfaces/Logger';
import type { LimitedToken, RateLimits, RateLimitState } from '../../ai/domain/types/ApiTokenLimits';
import { AccountLedger } from './AccountLedger';
import type { CallLimiter, LimitedCall, ReservationHandle } from './CallLimiter';
import type { TokenPolicy } from './TokenPolicy';

export interface TokenRateLimiterOptions {
  readonly policy: TokenPolicy;
  readonly store: AccountStore<RateAccount>;
  /** Milliseconds after which what is in progress in a dead process no longer counts. Default: a minute. */
  readonly lease?: number;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  readonly logger?: Logger;
}

/** What an admission is asked for: a change of the account. */
type Admit = (before: RateAccount, limits: RateLimits, now: number) => Admission;

type StateListener = (state: RateLimitState) => void;

const DEFAULT_LEASE_MS = 60_000;
/** Nobody knows when a request in progress ends. */
const PARALLEL_RETRY_MS = 1_000;

export class TokenRateLimiter implements CallLimiter {
  private readonly policy: TokenPolicy;
  private readonly leaseMs: number;
  private readonly now: () => number;
  private readonly logger: Logger;
  private readonly ledger: AccountLedger<RateAccount>;
  /** What is in progress in this process, by token. */
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
   * Counts a request, and what it holds until it is released.
   * @param onState learns what is left, also when the request is refused; not called for a token without rates
   * @returns ends what was begun; only the first call has an effect
   * @throws LLMRateLimitError with `retryAfterMs`; as `TokenPolicy.find` does
   * @throws whatever the store throws, since a limit that can't be read can't be enforced
   */
  begin(tokenId: string, holds: RateHold | 'nothing', onState: StateListener): (() => void) | Promise<() => void> {
    const token = this.policy.find(tokenId);
    const beginFor = (found: LimitedToken | undefined): (() => void) | Promise<() => void> => {
      const limits = found?.rateLimits;
      return found === undefined || limits === undefined || Object.keys(limits).length === 0
        ? () => undefined
        : this.count(tokenId, found, limits, holds, onState);
    };
    return token instanceof Promise ? token.then(beginFor) : beginFor(token);
  }

  private async count(
    tokenId: string,
    token: LimitedToken,
    limits: RateLimits,
    holds: RateHold | 'nothing',
    onState: StateListener,
  ): Promise<() => void> {
    const id = randomUUID();
    await this.change(tokenId, token, onState, (before, rates, now) =>
      admitRequest(before, { id, holds, leaseMs: this.leaseMs }, rates, now),
    );
    if (holds === 'nothing' || limits.parallel === undefined) return () => undefined;
    this.track(tokenId, id);
    return () => void this.end(tokenId, id, 0);
  }

  /**
   * Reserves the tokens of a model call.
   * @throws as `begin` does
   */
  admit(call: LimitedCall): ReservationHandle | undefined | Promise<ReservationHandle | undefined> {
    const tokenId = call.options.origin?.tokenId;
    if (tokenId === undefined || call.options.batch !== undefined) return undefined;
    const token = this.policy.find(tokenId);
    const admitFor = (found: LimitedToken | undefined): undefined | Promise<ReservationHandle> =>
      found?.rateLimits?.tokensPerMinute === undefined ? undefined : this.reserve(tokenId, found, call);
    return token instanceof Promise ? token.then(admitFor) : admitFor(token);
  }

  private async reserve(
    tokenId: string,
    token: LimitedToken,
    { options, expected }: LimitedCall,
  ): Promise<ReservationHandle> {
    const id = randomUUID();
    const tokens = expected().total_tokens;
    await this.change(tokenId, token, options.onRateLimits, (before, rates, now) =>
      reserveTokens(before, { id, tokens, leaseMs: this.leaseMs }, rates, now),
    );
    this.track(tokenId, id);
    return {
      settle: ({ tokens: used }) => this.end(tokenId, id, used),
      leave: ({ tokens: used }) => this.end(tokenId, id, Math.max(used, tokens)),
      release: () => this.end(tokenId, id, 0),
    };
  }

  /** Resolves when what has ended so far is stored. */
  settled(): Promise<void> {
    return this.ledger.settled();
  }

  /** @throws LLMRateLimitError if the account does not admit it */
  private async change(
    tokenId: string,
    { name, rateLimits = {} }: LimitedToken,
    onState: StateListener | undefined,
    admit: Admit,
  ): Promise<void> {
    const { admission, state } = await this.ledger.change(tokenId, (before) => {
      const now = this.now();
      const result = admit(before, rateLimits, now);
      const account = result.kind === 'admitted' ? result.account : before;
      return { account, result: { admission: result, state: rateLimitState(account, rateLimits, now) } };
    });
    onState?.(state);
    if (admission.kind === 'refused') throw refusal(name, admission, state.resetsInMs);
  }

  /** Never rejects: a response must not be lost with its count. What is in progress counts until its lease expires. */
  private async end(tokenId: string, id: string, tokens: number): Promise<void> {
    if (!this.untrack(tokenId, id)) return;
    try {
      await this.ledger.change(tokenId, (before) => ({
        account: finish(before, id, tokens, this.now()),
        result: undefined,
      }));
    } catch (error) {
      this.logger.error(`Could not record the end of a request of the API token "${tokenId}".`, error);
    }
  }

  private track(tokenId: string, id: string): void {
    const ids = this.running.get(tokenId) ?? new Set();
    this.running.set(tokenId, ids.add(id));
    this.timer ??= setInterval(() => this.renewAll(), this.leaseMs / 3).unref();
  }

  /** @returns whether it was in progress */
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
  { what, holds, limit, used }: Extract<Admission, { kind: 'refused' }>,
  resetsInMs: number,
): LLMRateLimitError {
  const isParallel = what === 'parallel';
  const rest = isParallel
    ? `${used} are ${holds === 'connections' ? 'open' : 'in progress'}. Wait for one to end.`
    : `${used} are used. The next minute begins in ${Math.ceil(resetsInMs / 1_000)} s.`;
  return new LLMRateLimitError(`The API token "${name}" is limited to ${formatLimit(what, limit, holds)}: ${rest}`, {
    retryAfterMs: isParallel ? PARALLEL_RETRY_MS : resetsInMs,
  });
}

function formatLimit(what: keyof RateLimits, limit: number, holds: RateHold | undefined): string {
  const s = limit === 1 ? '' : 's';
  switch (what) {
    case 'requestsPerMinute':
      return `${limit} request${s} per minute`;
    case 'tokensPerMinute':
      return `${limit} token${s} per minute`;
    case 'parallel':
      return holds === 'connections' ? `${limit} open stream${s} and WebSocket${s}` : `${limit} request${s} at a time`;
  }
}
