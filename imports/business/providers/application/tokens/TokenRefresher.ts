/**
 * Refreshes a token once for many callers: they share one promise within a process, and processes coordinate by
 * compare-and-set on the row's version.
 *
 * A rotating refresh token may be sent to its server only once, so sending it requires a lease with two phases. While
 * the lease is `claimed`, others may take it over after a short time without writes; the first holder's next write then
 * fails because the version has changed. Directly before the request, a write moves the lease to `sent`; from then on
 * others wait for as long as a request may take. A process that was paused for longer neither sends nor overwrites.
 */
import pLimit from 'p-limit';
import type { LimitFunction } from 'p-limit';
import { isLLMError, LLMTimeoutError } from '../../../ai/domain/errors/LLMErrors';
import { omitUndefined } from '../../../ai/domain/util/omitUndefined';
import { tokenRevision } from '../../domain/entities/StoredCredential';
import type { ReconnectReason, StoredCredential } from '../../domain/entities/StoredCredential';
import { OAuthRefusal, StaleLeaseError } from '../../domain/interfaces/AuthorizationServer';
import type { Clock } from '../../domain/interfaces/Clock';
import type { CredentialChange } from '../../domain/interfaces/CredentialStore';
import type { EventLog } from '../../domain/interfaces/EventLog';
import type { TokenSet } from '../../domain/types/TokenSet';
import type { CredentialVault, OpenedCredential } from '../credentials/CredentialVault';
import { RefreshLeaseMonitor } from './RefreshLeaseMonitor';
import type { LeaseDurations } from './RefreshLeaseMonitor';
import { errorName, leftTokenUnused, mustReconnect, notConnected, appRefused } from './refreshErrors';
import { targetFields } from './RefreshTarget';
import type { RefreshTarget, TokenContent } from './RefreshTarget';
import { RefreshedTokenWriter } from './RefreshedTokenWriter';

export interface TokenRequest {
  /** Requires a newer token than the stored one. */
  readonly forced: boolean;
  /** The token that the vendor rejected, if known. */
  readonly refusedToken?: string | undefined;
}

export interface TokenRefresherPorts {
  readonly vault: CredentialVault;
  readonly clock: Clock;
  readonly log: EventLog;
  /** Default: 5 s and 20 s. */
  readonly leases?: LeaseDurations;
}

/** Tokens that can be refreshed are refreshed this long before they expire. */
const REFRESH_AHEAD_MS = 60_000;

/** Longer than a request to a token endpoint may take. */
const DEFAULT_LEASES: LeaseDurations = { claimed: 5_000, sent: 20_000 };

/** The fraction of the `sent` lease within which the request must be sent. The rest is for the response. */
const SEND_WINDOW_FRACTION = 0.1;

/** Concurrent refreshes of one provider in one process. */
const MAX_CONCURRENT_REFRESHES = 16;

/** Pauses between reads of a row that another process is refreshing. */
const FIRST_POLL_MS = 20;
const LAST_POLL_MS = 250;

export class TokenRefresher {
  private readonly ports: TokenRefresherPorts;
  private readonly leases: LeaseDurations;
  private readonly inFlight = new Map<string, Promise<void>>();
  /**
   * By provider, so that a slow server delays no other. Many accounts of one provider wait for their turn before their
   * leases start, not while they expire.
   */
  private readonly limiters = new Map<string, LimitFunction>();
  private readonly writer: RefreshedTokenWriter;

  constructor(ports: TokenRefresherPorts) {
    this.ports = ports;
    this.leases = ports.leases ?? DEFAULT_LEASES;
    this.writer = new RefreshedTokenWriter(ports, this.leases.sent);
  }

  /** @throws LLMAuthError if the user must reconnect, other LLMErrors if no token is available now */
  async tokenFor(target: RefreshTarget, request: TokenRequest): Promise<string> {
    const first = await this.open(target);
    let opened = first;
    // The second attempt is for callers that joined a refresh which had started before their request.
    for (let attempt = 0; attempt < 2 && !this.satisfies(target, opened, first.row, request); attempt++) {
      try {
        await this.joinRefresh(target, opened.row);
      } catch (error) {
        if (this.isUsable(opened, request) && isTransient(error)) break;
        throw error;
      }
      opened = await this.open(target);
    }
    return opened.content.accessToken;
  }

  private async open({ provider, userId }: RefreshTarget): Promise<OpenedTokens> {
    const opened = await this.ports.vault.open(provider, 'oauth', userId);
    if (opened?.content.type !== 'tokens') throw notConnected(provider);
    const hasNewer = this.writer.unsavedFor(opened.row) !== undefined;
    if (opened.row.state === 'reconnect_required' && !hasNewer)
      throw mustReconnect(provider, opened.row.reconnectReason);
    return { row: opened.row, content: opened.content };
  }

  private satisfies(
    target: RefreshTarget,
    { row, content }: OpenedTokens,
    first: StoredCredential,
    { forced, refusedToken }: TokenRequest,
  ): boolean {
    // A new token counts even if its entire lifetime is shorter than REFRESH_AHEAD_MS.
    const isNew = tokenRevision(row) !== tokenRevision(first) && !this.isExpired(row);
    const isDue = target.canRefresh(content) ? this.isDueForRefresh(row) : this.isExpired(row);
    if (refusedToken !== undefined) return content.accessToken !== refusedToken && (isNew || !isDue);
    return isNew || (!forced && !isDue);
  }

  private isDueForRefresh({ expiresAt }: StoredCredential): boolean {
    return expiresAt !== undefined && expiresAt - this.ports.clock.now() <= REFRESH_AHEAD_MS;
  }

  private isExpired({ expiresAt }: StoredCredential): boolean {
    return expiresAt !== undefined && expiresAt <= this.ports.clock.now();
  }

  /** A refresh starts early, so while the server is unreachable the current token may still be valid. */
  private isUsable({ row }: OpenedTokens, { forced }: TokenRequest): boolean {
    return !forced && !this.isExpired(row);
  }

  private joinRefresh(target: RefreshTarget, row: StoredCredential): Promise<void> {
    const running = this.inFlight.get(row._id);
    if (running !== undefined) return running;
    const refresh = this.refreshUntilReplaced(target, tokenRevision(row)).finally(() => this.inFlight.delete(row._id));
    this.inFlight.set(row._id, refresh);
    return refresh;
  }

  /** Resolves when the row has another revision, whether this process or another one stored it. */
  private async refreshUntilReplaced(target: RefreshTarget, revision: string): Promise<void> {
    const { clock } = this.ports;
    const monitor = new RefreshLeaseMonitor(clock, this.leases);
    const maxWaitMs = 2 * (this.leases.claimed + this.leases.sent);
    // Counts the time spent waiting for other processes, not for a free slot in this one.
    let waitedMs = 0;
    const wait = async (milliseconds: number): Promise<void> => {
      const from = clock.elapsed();
      await clock.sleep(milliseconds);
      waitedMs += clock.elapsed() - from;
    };
    for (let pause = FIRST_POLL_MS; waitedMs < maxWaitMs; pause = Math.min(pause * 2, LAST_POLL_MS)) {
      const opened = await this.open(target);
      const { row } = opened;
      if (tokenRevision(row) !== revision) return;
      const unsaved = this.writer.unsavedFor(row);
      if (unsaved !== undefined) {
        if (await this.writer.write(target, unsaved)) return;
        continue;
      }
      if (monitor.isHeld(row)) {
        await wait(pause * (0.5 + Math.random()));
        continue;
      }
      if (row.lease !== undefined)
        this.ports.log.warn('refresh:taken-over', { ...targetFields(target), phase: row.lease.phase });
      if (await this.limiterFor(target)(() => this.claim(target, opened))) return;
      await wait(pause);
    }
    throw new LLMTimeoutError(
      `Timed out waiting for another process to refresh the token for "${target.provider.name}".`,
    );
  }

  private limiterFor({ provider }: RefreshTarget): LimitFunction {
    const limiter = this.limiters.get(provider._id) ?? pLimit(MAX_CONCURRENT_REFRESHES);
    this.limiters.set(provider._id, limiter);
    return limiter;
  }

  private async claim(target: RefreshTarget, opened: OpenedTokens): Promise<boolean> {
    const version = await this.ports.vault.store.change(opened.row, { lease: this.lease('claimed') });
    return version !== undefined && this.refresh(target, opened, { ...opened.row, version });
  }

  /** @param held the row with the version that the claim wrote @returns false if the lease was lost meanwhile */
  private async refresh(target: RefreshTarget, opened: OpenedTokens, held: StoredCredential): Promise<boolean> {
    const { content } = opened;
    const { store } = this.ports.vault;
    let current = held;
    let tokens: TokenSet;
    try {
      await target.prepare();
      const sending = this.stopwatch();
      const change: CredentialChange = { lease: this.lease('sent'), isUnanswered: true };
      const version = await store.change(current, target.canRefresh(content) ? change : { lease: this.lease('sent') });
      if (version === undefined) return false;
      current = { ...current, version };
      tokens = await target.obtain(content, () => sending() < this.leases.sent * SEND_WINDOW_FRACTION);
    } catch (error) {
      return this.releaseAfterFailure(target, opened, current, error);
    }
    const isStored = await this.writer.write(target, {
      held: current,
      tokens,
      old: content,
      receivedAt: this.ports.clock.now(),
    });
    if (isStored) this.ports.log.info('refresh:done', targetFields(target));
    return isStored;
  }

  /**
   * Elapsed wall-clock or monotonic time, whichever is longer: the monotonic clock may stop while the machine sleeps,
   * and the wall clock may be set back.
   */
  private stopwatch(): () => number {
    const { clock } = this.ports;
    const [wall, steady] = [clock.now(), clock.elapsed()];
    return () => Math.max(clock.now() - wall, clock.elapsed() - steady);
  }

  private lease(phase: 'claimed' | 'sent'): NonNullable<StoredCredential['lease']> {
    return { phase, until: this.ports.clock.now() + this.leases[phase] };
  }

  /** Why the server has refused the tokens as they were before the request. */
  private reconnectReason(target: RefreshTarget, { row, content }: OpenedTokens): ReconnectReason {
    if (!target.canRefresh(content) && this.isExpired(row)) return 'expired';
    return wasUnanswered(row) ? 'interrupted' : 'refused';
  }

  /** @param opened as it was before the request */
  private async releaseAfterFailure(
    target: RefreshTarget,
    opened: OpenedTokens,
    held: StoredCredential,
    error: unknown,
  ): Promise<boolean> {
    const { vault, log } = this.ports;
    const refused = error instanceof OAuthRefusal ? error : undefined;
    const isRevoked = refused?.error === 'invalid_grant';
    const reason = isRevoked ? this.reconnectReason(target, opened) : undefined;
    const mark = wasUnanswered(opened.row) ? {} : { isUnanswered: null };
    const change: CredentialChange = {
      lease: null,
      ...(leftTokenUnused(error) ? mark : {}),
      ...(reason === undefined ? {} : { state: 'reconnect_required', reconnectReason: reason }),
    };
    const changed = await vault.store.change(held, change);
    if (error instanceof StaleLeaseError || (isRevoked && changed === undefined)) return false;
    log.warn(isRevoked ? 'refresh:reconnect-required' : 'refresh:failed', {
      ...targetFields(target),
      error: refused?.error ?? errorName(error),
      description: refused?.description,
      ...omitUndefined({ reason }),
    });
    if (reason !== undefined) throw mustReconnect(target.provider, reason);
    throw refused === undefined ? error : appRefused(target.provider, refused);
  }
}

/** A lease that was taken over in this phase has left no mark if an earlier version wrote it. */
function wasUnanswered({ isUnanswered, lease }: StoredCredential): boolean {
  return isUnanswered === true || lease?.phase === 'sent';
}

interface OpenedTokens extends OpenedCredential {
  readonly content: TokenContent;
}

function isTransient(error: unknown): boolean {
  return isLLMError(error) && error.retryable;
}
