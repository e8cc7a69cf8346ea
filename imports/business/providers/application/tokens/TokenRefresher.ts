/**
 * Keeps one token alive for many callers: within a process by one shared promise, between processes by
 * compare-and-set on the row's version.
 *
 * A refresh token that rotates may be shown to its server once, so the right to show it is a lease with two phases.
 * While it is `claimed` others may take it over after a short silence, and the first holder's next write finds
 * another version. It becomes `sent` by such a write, directly before the request; from then on others wait for as
 * long as a request may take. Whoever was paused longer than that neither sends nor overwrites.
 */
import pLimit from 'p-limit';
import { isLLMError, LLMTimeoutError } from '../../../ai/domain/errors/LLMErrors';
import { tokenRevision } from '../../domain/entities/StoredCredential';
import type { StoredCredential } from '../../domain/entities/StoredCredential';
import { OAuthRefusal, StaleLeaseError } from '../../domain/interfaces/AuthorizationServer';
import type { Clock } from '../../domain/interfaces/Clock';
import type { CredentialChange } from '../../domain/interfaces/CredentialStore';
import type { EventLog } from '../../domain/interfaces/EventLog';
import type { TokenSet } from '../../domain/types/TokenSet';
import type { CredentialVault, OpenedCredential } from '../credentials/CredentialVault';
import { RefreshLeaseMonitor } from './RefreshLeaseMonitor';
import type { LeaseDurations } from './RefreshLeaseMonitor';
import { errorName, mustReconnect, notConnected, appRefused } from './refreshErrors';
import { targetFields } from './RefreshTarget';
import type { RefreshTarget, TokenContent } from './RefreshTarget';
import { RefreshedTokenWriter } from './RefreshedTokenWriter';

export interface TokenRequest {
  /** A token is wanted that is newer than what is there now. */
  readonly forced: boolean;
  /** The token that the vendor refused, where it is known. */
  readonly refusedToken?: string | undefined;
}

export interface TokenRefresherPorts {
  readonly vault: CredentialVault;
  readonly clock: Clock;
  readonly log: EventLog;
  /** Default: 5 s and 20 s. */
  readonly leases?: LeaseDurations;
}

/** Tokens are renewed this long before their end, in milliseconds. */
const REFRESH_AHEAD_MS = 60_000;

/** Longer than a request to a token endpoint may take. */
const DEFAULT_LEASES: LeaseDurations = { claimed: 5_000, sent: 20_000 };

/** From the write that says `sent` to the request itself, as a part of that lease: the rest must do for the answer. */
const SEND_WINDOW_FRACTION = 0.1;

/** Refreshes that one process makes at one provider at the same time. */
const MAX_CONCURRENT_REFRESHES = 16;

/** Waits between looks at a row that another process refreshes, in milliseconds. */
const FIRST_POLL_MS = 20;
const LAST_POLL_MS = 250;

export class TokenRefresher {
  private readonly ports: TokenRefresherPorts;
  private readonly leases: LeaseDurations;
  private readonly inFlight = new Map<string, Promise<void>>();
  /**
   * By provider. A crowd of accounts waits before its leases begin, not while they run out, and no slow server
   * keeps others waiting.
   */
  private readonly limiters = new Map<string, pLimit.Limit>();
  private readonly writer: RefreshedTokenWriter;

  constructor(ports: TokenRefresherPorts) {
    this.ports = ports;
    this.leases = ports.leases ?? DEFAULT_LEASES;
    this.writer = new RefreshedTokenWriter(ports, this.leases.sent);
  }

  /** @throws LLMAuthError when the user must connect again, other LLMErrors when no token can be had now */
  async tokenFor(target: RefreshTarget, request: TokenRequest): Promise<string> {
    const first = await this.open(target);
    let opened = first;
    // A second turn is for callers that joined a flight which was over before it could help them.
    for (let turn = 0; turn < 2 && !this.satisfies(opened, first.row, request); turn++) {
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
    if (opened.row.state === 'reconnect_required' && !hasNewer) throw mustReconnect(provider);
    return { row: opened.row, content: opened.content };
  }

  private satisfies(
    { row, content }: OpenedTokens,
    first: StoredCredential,
    { forced, refusedToken }: TokenRequest,
  ): boolean {
    // One that was just made is taken even if its whole life is shorter than a minute.
    const isNew = tokenRevision(row) !== tokenRevision(first) && !this.isExpired(row);
    if (refusedToken !== undefined)
      return content.accessToken !== refusedToken && (isNew || !this.isDueForRefresh(row));
    return isNew || (!forced && !this.isDueForRefresh(row));
  }

  private isDueForRefresh({ expiresAt }: StoredCredential): boolean {
    return expiresAt !== undefined && expiresAt - this.ports.clock.now() <= REFRESH_AHEAD_MS;
  }

  private isExpired({ expiresAt }: StoredCredential): boolean {
    return expiresAt !== undefined && expiresAt <= this.ports.clock.now();
  }

  /** Renewal is early: while the server can't be reached, what is left of the token's time is used. */
  private isUsable({ row }: OpenedTokens, { forced }: TokenRequest): boolean {
    return !forced && !this.isExpired(row);
  }

  private joinRefresh(target: RefreshTarget, seen: StoredCredential): Promise<void> {
    const flying = this.inFlight.get(seen._id);
    if (flying !== undefined) return flying;
    const flight = this.refreshUntilReplaced(target, tokenRevision(seen)).finally(() => this.inFlight.delete(seen._id));
    this.inFlight.set(seen._id, flight);
    return flight;
  }

  /** Settles when the row's edition is another one, whoever brought that about. */
  private async refreshUntilReplaced(target: RefreshTarget, edition: string): Promise<void> {
    const { clock } = this.ports;
    const watch = new RefreshLeaseMonitor(clock, this.leases);
    const patience = 2 * (this.leases.claimed + this.leases.sent);
    // What counts is how long others are waited for, not how long the own turn takes to come.
    let waited = 0;
    const wait = async (milliseconds: number): Promise<void> => {
      const from = clock.elapsed();
      await clock.sleep(milliseconds);
      waited += clock.elapsed() - from;
    };
    for (let pause = FIRST_POLL_MS; waited < patience; pause = Math.min(pause * 2, LAST_POLL_MS)) {
      const opened = await this.open(target);
      const { row } = opened;
      if (tokenRevision(row) !== edition) return;
      const unsaved = this.writer.unsavedFor(row);
      if (unsaved !== undefined) {
        if (await this.writer.write(target, unsaved)) return;
        continue;
      }
      if (watch.isHeld(row)) {
        await wait(pause * (0.5 + Math.random()));
        continue;
      }
      if (row.lease !== undefined)
        this.ports.log.warn('refresh:taken-over', { ...targetFields(target), phase: row.lease.phase });
      if (await this.limiterFor(target)(() => this.claim(target, opened))) return;
      await wait(pause);
    }
    throw new LLMTimeoutError(`'${target.provider.name}' is being reconnected by another process and takes too long`);
  }

  private limiterFor({ provider }: RefreshTarget): pLimit.Limit {
    const turn = this.limiters.get(provider._id) ?? pLimit(MAX_CONCURRENT_REFRESHES);
    this.limiters.set(provider._id, turn);
    return turn;
  }

  private async claim(target: RefreshTarget, opened: OpenedTokens): Promise<boolean> {
    const version = await this.ports.vault.store.change(opened.row, { lease: this.lease('claimed') });
    return version !== undefined && this.refresh(target, opened, { ...opened.row, version });
  }

  /** @param held the row with the version that this holder made @returns false when the lease was lost on the way */
  private async refresh(target: RefreshTarget, { content }: OpenedTokens, held: StoredCredential): Promise<boolean> {
    const { store } = this.ports.vault;
    let holding = held;
    let tokens: TokenSet;
    try {
      await target.prepare();
      const sending = this.stopwatch();
      const version = await store.change(holding, { lease: this.lease('sent') });
      if (version === undefined) return false;
      holding = { ...holding, version };
      tokens = await target.obtain(content, () => sending() < this.leases.sent * SEND_WINDOW_FRACTION);
    } catch (error) {
      return this.releaseAfterFailure(target, holding, error);
    }
    const kept = await this.writer.write(target, {
      held: holding,
      tokens,
      old: content,
      receivedAt: this.ports.clock.now(),
    });
    if (kept) this.ports.log.info('refresh:done', targetFields(target));
    return kept;
  }

  /** Wall and monotonic time, whichever went further: one stops when the machine sleeps, the other may be set back. */
  private stopwatch(): () => number {
    const { clock } = this.ports;
    const [wall, steady] = [clock.now(), clock.elapsed()];
    return () => Math.max(clock.now() - wall, clock.elapsed() - steady);
  }

  private lease(phase: 'claimed' | 'sent'): NonNullable<StoredCredential['lease']> {
    return { phase, until: this.ports.clock.now() + this.leases[phase] };
  }

  private async releaseAfterFailure(target: RefreshTarget, held: StoredCredential, error: unknown): Promise<boolean> {
    const { vault, log } = this.ports;
    const refused = error instanceof OAuthRefusal ? error : undefined;
    const isOver = refused?.error === 'invalid_grant';
    const change: CredentialChange = isOver ? { lease: null, state: 'reconnect_required' } : { lease: null };
    const changed = await vault.store.change(held, change);
    if (error instanceof StaleLeaseError || (isOver && changed === undefined)) return false;
    log.warn(isOver ? 'refresh:reconnect-required' : 'refresh:failed', {
      ...targetFields(target),
      error: refused?.error ?? errorName(error),
      description: refused?.description,
    });
    if (isOver) throw mustReconnect(target.provider);
    throw refused === undefined ? error : appRefused(target.provider, refused);
  }
}

interface OpenedTokens extends OpenedCredential {
  readonly content: TokenContent;
}

/** Whether trying again later may help. */
function isTransient(error: unknown): boolean {
  return isLLMError(error) && error.retryable;
}
