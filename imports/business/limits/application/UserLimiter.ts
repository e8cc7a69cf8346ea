/** Keeps each user within the limits, by all ways in, and in all processes that share a store. */
import { consoleLogger } from '../../../log/consoleLogger';
import { LOAD_MINUTE_MS } from '../domain/UserLoad';
import type { HeldLoad, LoadAmounts, LoadKind, UserAccount } from '../domain/UserLoad';
import { LLMRateLimitError } from '../../ai/domain/errors/LLMErrors';
import type { AccountStore } from '../domain/AccountStore';
import type { Logger } from '../../ai/domain/interfaces/Logger';
import type { UserLimits } from '../domain/UserLimits';
import { UserLoads } from './UserLoads';
import type { ReachedLimit } from './UserLoads';
import { UserPacer } from './UserPacer';

export interface UserLimiterOptions {
  readonly limits: UserLimits;
  /** Shares the counts with other processes. Absent: there are none. */
  readonly store?: AccountStore<UserAccount> | undefined;
  /** Milliseconds after which what a dead process held no longer counts. Default: 30 seconds. */
  readonly leaseMs?: number;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  readonly logger?: Logger;
  /** Default: one that looks at this process's event loop. */
  readonly pacer?: UserPacer;
}

/** Ends what was begun. Only the first call has an effect. */
export type Release = () => void;

const DEFAULT_LEASE_MS = 30_000;
/** Nobody knows when something that is held ends. */
const HELD_RETRY_MS = 1_000;

export class UserLimiter {
  private readonly limits: Readonly<Record<LoadKind, number>>;
  private readonly now: () => number;
  private readonly loads: UserLoads;
  private readonly pacer: UserPacer;

  constructor(options: UserLimiterOptions) {
    const { limits, store, leaseMs = DEFAULT_LEASE_MS, now = Date.now, logger = consoleLogger } = options;
    this.pacer = options.pacer ?? new UserPacer();
    this.limits = {
      requests: limits.requestsPerMinute,
      tokens: limits.tokensPerMinute,
      calls: limits.parallelCalls,
      connections: limits.connections,
      messages: limits.queuedMessages,
    };
    this.now = now;
    this.loads = new UserLoads({ limits: this.limits, store, leaseMs, now, logger });
  }

  get limitsTokens(): boolean {
    return Number.isFinite(this.limits.tokens);
  }

  /**
   * Counts a request, and what it holds until it is released. What does not end something else waits for its turn.
   * @param request how many bytes its body has, and what ends its wait
   * @throws LLMRateLimitError with `retryAfterMs`; what the store throws, since a limit that can't be read can't be
   *   enforced
   */
  begin(
    userId: string,
    held: 'calls' | 'connections' | 'nothing',
    { bytes = 0, signal }: { readonly bytes?: number; readonly signal?: AbortSignal } = {},
  ): Release | Promise<Release> {
    if (held === 'nothing') return this.take(userId, { requests: 1 }, () => undefined);
    const turn = this.pacer.enter(userId, bytes, signal);
    return turn instanceof Promise ? turn.then((end) => this.hold(userId, held, end)) : this.hold(userId, held, turn);
  }

  /** @param change 1 for a request that has arrived, -1 once it is known whose it is */
  countUnidentified(change: 1 | -1): void {
    this.pacer.countUnidentified(change);
  }

  /** Holds the place of a message until it is answered. @throws as `begin` does */
  enqueue(userId: string): Release | Promise<Release> {
    return this.take(userId, { messages: 1 }, this.releaseOf(userId, 'messages'));
  }

  /**
   * Counts the tokens that a call is expected to use.
   * @returns counts what it really used instead; only the first call has an effect
   * @throws as `begin` does
   */
  reserveTokens(userId: string, expected: number): ((used: number) => void) | Promise<(used: number) => void> {
    // A call that needs more than the limit is admitted if nothing else was used in the minute.
    const tokens = Math.min(expected, this.limits.tokens);
    const { minute } = this.loads;
    let isSettled = false;
    return this.take(userId, { tokens }, (used) => {
      if (isSettled) return;
      isSettled = true;
      const unreserved = used - tokens;
      // What was reserved counts in its minute, and no other.
      this.loads.add(userId, { tokens: this.loads.minute === minute ? unreserved : Math.max(0, unreserved) });
    });
  }

  /** Forgets a user whose data is deleted. */
  forget(userId: string): void {
    this.loads.forget(userId);
  }

  /** Shares with other processes what they must know, as happens every second. @throws what the store throws */
  flush(): Promise<void> {
    return this.loads.flush();
  }

  /** @throws what the store throws */
  close(): Promise<void> {
    return this.loads.close();
  }

  private hold(userId: string, held: HeldLoad, onRelease: () => void): Release | Promise<Release> {
    try {
      const taken = this.take(userId, { requests: 1, [held]: 1 }, this.releaseOf(userId, held, onRelease));
      if (taken instanceof Promise) taken.catch(onRelease);
      return taken;
    } catch (error) {
      onRelease();
      throw error;
    }
  }

  private releaseOf(userId: string, held: HeldLoad, onRelease: () => void = () => undefined): Release {
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.loads.add(userId, { [held]: -1 });
      onRelease();
    };
  }

  /** Without the store, in the same turn of the event loop. */
  private take<T>(userId: string, amounts: LoadAmounts, taken: T): T | Promise<T> {
    const resultOf = (reached: ReachedLimit | undefined): T => {
      if (reached !== undefined) throw this.refusal(reached);
      return taken;
    };
    const reached = this.loads.take(userId, amounts);
    return reached instanceof Promise ? reached.then(resultOf) : resultOf(reached);
  }

  private refusal({ kind, used }: ReachedLimit): LLMRateLimitError {
    const isHeld = kind !== 'requests' && kind !== 'tokens';
    const untilNextMinute = Math.max(1, this.loads.minute + LOAD_MINUTE_MS - this.now());
    const rest = isHeld
      ? `${used} are ${STATES[kind]}. Wait for one to end.`
      : `${used} are used. The next minute begins in ${Math.ceil(untilNextMinute / 1_000)} s.`;
    return new LLMRateLimitError(`You are limited to ${formatLimit(kind, this.limits[kind])}: ${rest}`, {
      retryAfterMs: isHeld ? HELD_RETRY_MS : untilNextMinute,
    });
  }
}

const STATES = { calls: 'in progress', connections: 'open', messages: 'waiting' } as const satisfies Record<
  HeldLoad,
  string
>;

function formatLimit(kind: LoadKind, limit: number): string {
  const s = limit === 1 ? '' : 's';
  switch (kind) {
    case 'requests':
      return `${limit} request${s} per minute`;
    case 'tokens':
      return `${limit} token${s} per minute`;
    case 'calls':
      return `${limit} request${s} at a time`;
    case 'connections':
      return `${limit} open stream${s}, WebSocket${s} and subscription${s}`;
    case 'messages':
      return `${limit} waiting message${s}`;
  }
}
