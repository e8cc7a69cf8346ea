/** Brings what a refresh got into the store, whatever stands in the way: without it the grant would be lost. */
import { LLMConnectionError } from '../../../ai/domain/errors/LLMErrors';
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

/** What a refresh brought. */
export interface RefreshedTokens {
  /** The row as the holder left it. */
  readonly held: StoredCredential;
  readonly tokens: TokenSet;
  /** What they took the place of. */
  readonly old: TokenContent;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
}

/** `gone`: the user disconnected while the request was under way. */
type WriteOutcome = 'stored' | 'stored-late' | 'fenced-off' | 'gone';

/** Waits between attempts to store, in milliseconds. */
const FIRST_PAUSE_MS = 20;
const LAST_PAUSE_MS = 250;

export class RefreshedTokenWriter {
  private readonly ports: RefreshedTokenWriterPorts;
  private readonly retryForMs: number;
  /** What the store did not take yet. */
  private readonly unsaved = new Map<string, RefreshedTokens>();

  /** @param patience how long to try before callers are told, in milliseconds */
  constructor(ports: RefreshedTokenWriterPorts, patience: number) {
    this.ports = ports;
    this.retryForMs = patience;
  }

  /** What this process got for a row's present edition and could not store. */
  unsavedFor(row: StoredCredential): RefreshedTokens | undefined {
    const unsaved = this.unsaved.get(row._id);
    if (unsaved === undefined || tokenRevision(unsaved.held) === tokenRevision(row)) return unsaved;
    this.unsaved.delete(row._id);
    return undefined;
  }

  /**
   * The new pair takes the old one's place in one write. When the store fails it is tried again until the lease is
   * over, and kept in memory.
   * @returns false when another holder's tokens are there, which are then the ones to use
   */
  async write(target: RefreshTarget, unsaved: RefreshedTokens): Promise<boolean> {
    const { clock, log } = this.ports;
    const { _id } = unsaved.held;
    this.unsaved.set(_id, unsaved);
    const giveUpAt = clock.elapsed() + this.retryForMs;
    let saved: WriteOutcome | undefined;
    for (let pause = FIRST_PAUSE_MS; saved === undefined; pause = Math.min(pause * 2, LAST_PAUSE_MS)) {
      try {
        saved = await this.save(unsaved);
      } catch (cause) {
        log.warn('refresh:not-stored', { ...targetFields(target), error: errorName(cause) });
        if (clock.elapsed() >= giveUpAt) throw new LLMConnectionError('a new token could not be stored', { cause });
        await clock.sleep(pause);
      }
    }
    this.unsaved.delete(_id);
    if (saved === 'gone') {
      log.warn('refresh:disconnected-meanwhile', targetFields(target));
      await target.revoke(contentFrom(unsaved));
      throw notConnected(target.provider);
    }
    if (saved !== 'stored') log.warn(`refresh:${saved}`, targetFields(target));
    return saved !== 'fenced-off';
  }

  /**
   * A holder that lost its lease never replaces a token that came after its own. But while nothing came, what it
   * brings is all there is: those who took over find the old token used up.
   */
  private async save(unsaved: RefreshedTokens): Promise<WriteOutcome> {
    const { store } = this.ports.vault;
    const { held } = unsaved;
    const change = this.changeFor(unsaved);
    if ((await store.change(held, change)) !== undefined) return 'stored';
    for (;;) {
      const there = await store.find(held);
      if (there === undefined) return 'gone';
      if (tokenRevision(there) !== tokenRevision(held)) return 'fenced-off';
      if ((await store.change(there, change)) !== undefined) return 'stored-late';
    }
  }

  private changeFor(unsaved: RefreshedTokens): CredentialChange {
    const { held, tokens, receivedAt } = unsaved;
    return {
      box: this.ports.vault.seal(held, contentFrom(unsaved)),
      state: 'ready',
      generation: held.generation + 1,
      expiresAt: tokens.expiresInMs === undefined ? null : receivedAt + tokens.expiresInMs,
      ...(tokens.scopes === undefined ? {} : { scopes: tokens.scopes }),
      lease: null,
    };
  }
}

/** RFC 6749, 6: a server that sends no new refresh token leaves the old one in force. */
function contentFrom({ tokens: { accessToken, refreshToken }, old }: RefreshedTokens): TokenContent {
  const next = refreshToken ?? old.refreshToken;
  return { type: 'tokens', accessToken, ...(next === undefined ? {} : { refreshToken: next }) };
}
