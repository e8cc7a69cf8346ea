/** Stores refreshed tokens, retrying until it succeeds: a rotated refresh token that is not stored loses the grant. */
import { LLMConnectionError } from '../../../ai/domain/errors/LLMErrors';
import { omitUndefined } from '../../../ai/domain/util/omitUndefined';
import { tokenRevision } from '../../domain/entities/StoredCredential';
import type { StoredCredential } from '../../domain/entities/StoredCredential';
import type { Clock } from '../../domain/interfaces/Clock';
import type { CredentialChange } from '../../domain/interfaces/CredentialStore';
import type { EventLog } from '../../domain/interfaces/EventLog';
import type { TokenSet } from '../../domain/types/TokenSet';
import type { CredentialVault } from '../credentials/CredentialVault';
import { errorName, notConnected } from './refreshErrors';
import { targetFields } from './RefreshTarget';
import type { RefreshTarget, TokenContent } from './RefreshTarget';

export interface RefreshedTokenWriterPorts {
  readonly vault: CredentialVault;
  readonly clock: Clock;
  readonly log: EventLog;
}

export interface RefreshedTokens {
  /** The row as last written by this process, which holds its lease. */
  readonly held: StoredCredential;
  readonly tokens: TokenSet;
  /** The tokens that they replace. */
  readonly old: TokenContent;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
}

/** `gone`: the user disconnected during the refresh. */
type WriteOutcome = 'stored' | 'stored-late' | 'fenced-off' | 'gone';

/** Pauses between attempts to store. */
const FIRST_PAUSE_MS = 20;
const LAST_PAUSE_MS = 250;

export class RefreshedTokenWriter {
  private readonly ports: RefreshedTokenWriterPorts;
  private readonly retryForMs: number;
  /** Tokens that could not be stored yet, by credential. */
  private readonly unsaved = new Map<string, RefreshedTokens>();

  /** @param retryForMs how long `write` retries before it rejects */
  constructor(ports: RefreshedTokenWriterPorts, retryForMs: number) {
    this.ports = ports;
    this.retryForMs = retryForMs;
  }

  /** Tokens that this process obtained for the row's current revision and could not store. */
  unsavedFor(row: StoredCredential): RefreshedTokens | undefined {
    const unsaved = this.unsaved.get(row._id);
    if (unsaved === undefined || tokenRevision(unsaved.held) === tokenRevision(row)) return unsaved;
    this.unsaved.delete(row._id);
    return undefined;
  }

  /**
   * Replaces the old pair in one write. While the store fails, retries until the lease expires, and holds the tokens in
   * memory for later attempts.
   * @returns false if another process has stored newer tokens, which are then the ones to use
   * @throws LLMConnectionError if the store keeps failing, LLMAuthError if the user has disconnected
   */
  async write(target: RefreshTarget, unsaved: RefreshedTokens): Promise<boolean> {
    const { clock, log } = this.ports;
    const { _id } = unsaved.held;
    this.unsaved.set(_id, unsaved);
    const giveUpAt = clock.elapsed() + this.retryForMs;
    let outcome: WriteOutcome | undefined;
    for (let pause = FIRST_PAUSE_MS; outcome === undefined; pause = Math.min(pause * 2, LAST_PAUSE_MS)) {
      try {
        outcome = await this.save(unsaved);
      } catch (cause) {
        log.warn('refresh:not-stored', { ...targetFields(target), error: errorName(cause) });
        if (clock.elapsed() >= giveUpAt)
          throw new LLMConnectionError('A refreshed token could not be stored.', { cause });
        await clock.sleep(pause);
      }
    }
    this.unsaved.delete(_id);
    if (outcome === 'gone') {
      log.warn('refresh:disconnected-meanwhile', targetFields(target));
      await target.revoke(contentFrom(unsaved));
      throw notConnected(target.provider);
    }
    if (outcome !== 'stored') log.warn(`refresh:${outcome}`, targetFields(target));
    return outcome !== 'fenced-off';
  }

  /**
   * A process that lost its lease never replaces a newer token. But if no newer one exists, its token is the only valid
   * one, since whoever took over will find the old refresh token used up.
   */
  private async save(unsaved: RefreshedTokens): Promise<WriteOutcome> {
    const { store } = this.ports.vault;
    const { held } = unsaved;
    const change = this.changeFor(unsaved);
    if ((await store.change(held, change)) !== undefined) return 'stored';
    for (;;) {
      const current = await store.find(held);
      if (current === undefined) return 'gone';
      if (tokenRevision(current) !== tokenRevision(held)) return 'fenced-off';
      if ((await store.change(current, change)) !== undefined) return 'stored-late';
    }
  }

  private changeFor(unsaved: RefreshedTokens): CredentialChange {
    const { held, tokens, receivedAt } = unsaved;
    return omitUndefined({
      box: this.ports.vault.seal(held, contentFrom(unsaved)),
      state: 'ready',
      reconnectReason: null,
      isUnanswered: null,
      generation: held.generation + 1,
      expiresAt: tokens.expiresInMs === undefined ? null : receivedAt + tokens.expiresInMs,
      scopes: tokens.scopes,
      lease: null,
    });
  }
}

/** RFC 6749, 6: without a new refresh token, the old one stays valid. */
function contentFrom({ tokens: { accessToken, refreshToken }, old }: RefreshedTokens): TokenContent {
  const next = refreshToken ?? old.refreshToken;
  return omitUndefined({ type: 'tokens', accessToken, refreshToken: next });
}
