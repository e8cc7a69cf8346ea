/**
 * Dashboard sessions: a browser exchanges an API token, or a sign-in at the OpenID provider, once for a cookie that no
 * script can read. Sessions are stored, so that they outlive a restart and count in every process.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { consoleLogger } from '../../log/consoleLogger';
import type { Logger } from '../../business/ai/domain/interfaces/Logger';
import type { ApiPrincipal } from '../auth/ApiPrincipal';
import { secretIdOf } from '../auth/ApiTokens';
import type { Identities } from '../signIn/Identities';
import { PrincipalCache } from './PrincipalCache';
import { assertKnownHost, assertSameOrigin, isSentByScript } from './sameOrigin';
import { SessionCookie } from './SessionCookie';
import type { SessionStore, StoredSession } from './SessionStore';

export interface SessionTokens {
  /** The principal of a token, or undefined if it is invalid. */
  verify(token: string): Promise<ApiPrincipal | undefined>;
  /** The principal of a token that was verified before, as long as that secret is valid. */
  verifySecretId(secretId: string): Promise<ApiPrincipal | undefined>;
}

export interface SessionLifetimes {
  /** Milliseconds after which a session ends, however much it is used. */
  readonly maxAge: number;
  /** Milliseconds without a request after which it ends. */
  readonly maxIdle: number;
}

export const DEFAULT_SESSION_LIFETIMES: SessionLifetimes = { maxAge: 7 * 86_400_000, maxIdle: 86_400_000 };

export interface DashboardSessionsOptions {
  readonly store: SessionStore;
  readonly tokens: SessionTokens;
  /** The users who sign in at the OpenID provider. Default: none, and sessions of theirs have ended. */
  readonly identities?: Pick<Identities, 'verify'> | undefined;
  /** Host names of the server, besides its IP addresses and `localhost`. */
  readonly hostNames?: readonly string[];
  /** Browsers reach the server over https only. */
  readonly isSecure?: boolean;
  readonly lifetimes?: SessionLifetimes;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Default: the console. */
  readonly logger?: Logger;
}

export interface OpenedSession {
  readonly principal: ApiPrincipal;
  /** The `set-cookie` header. */
  readonly cookie: string;
}

/** Beyond it, the user's oldest session ends. */
const MAX_SESSIONS_PER_USER = 20;
/** A busy session's last use is stored no more often. */
const USED_EVERY_MS = 60_000;

export class DashboardSessions {
  readonly hostNames: readonly string[];
  readonly tokens: SessionTokens;
  private readonly identities: Pick<Identities, 'verify'> | undefined;
  private readonly store: SessionStore;
  private readonly cookie: SessionCookie;
  private readonly lifetimes: SessionLifetimes;
  private readonly now: () => number;
  private readonly logger: Logger;
  private readonly cache: PrincipalCache;
  private readonly listeners = new Set<(sessionId: string) => void>();
  private readonly pendingWrites = new Set<Promise<void>>();
  private lastCreatedAt = 0;

  constructor(options: DashboardSessionsOptions) {
    const { store, tokens, hostNames = [], isSecure = false, now = Date.now, logger = consoleLogger } = options;
    this.store = store;
    this.tokens = tokens;
    this.identities = options.identities;
    this.hostNames = hostNames;
    this.lifetimes = options.lifetimes ?? DEFAULT_SESSION_LIFETIMES;
    this.now = now;
    this.logger = logger;
    this.cookie = new SessionCookie({ name: 'bolide-session', isSecure, sameSite: 'Strict' });
    this.cache = new PrincipalCache(now);
  }

  /** Calls the listener with the id of each session that this process ends. */
  onEnded(listener: (sessionId: string) => void): void {
    this.listeners.add(listener);
  }

  /**
   * Ends the browser's session, if it has one, and opens another: a cookie from before a sign-in is worth nothing
   * after it.
   * @returns undefined for an invalid token
   */
  async open(token: string, request: Pick<IncomingMessage, 'headers'>): Promise<OpenedSession | undefined> {
    const principal = await this.tokens.verify(token);
    if (principal === undefined) return undefined;
    const { userId, token: presented } = principal;
    // Without an id, the secret's own identifies the token.
    const secretId = secretIdOf(token);
    await this.endOf(request);
    return this.insert(principal, { userId, token: { id: presented?.id ?? secretId, secretId } });
  }

  /**
   * Opens a session for somebody who signed in at the OpenID provider.
   * @param replaced the id of the browser's session before the sign-in, which ends: the browser came back from another
   *   site, so its request has no cookie of a session
   */
  async openFor(principal: ApiPrincipal, replaced?: string): Promise<OpenedSession> {
    if (replaced !== undefined) await this.end(replaced);
    return this.insert(principal, { userId: principal.userId });
  }

  /** The id of the browser's session, if it has one, valid or not. */
  idIn(request: Pick<IncomingMessage, 'headers'>): string | undefined {
    const secret = this.cookie.read(request);
    return secret === undefined ? undefined : idOf(secret);
  }

  /** Ends the browser's session. @returns the `set-cookie` header that deletes the cookie */
  async close(request: Pick<IncomingMessage, 'headers'>): Promise<string> {
    await this.endOf(request);
    return this.cookie.clear();
  }

  /**
   * The principal of the request's session, as long as its token is valid. A session authenticates the requests of
   * scripts only, so that nothing that a browser opens or embeds has its rights: users choose the content of files.
   * @throws HttpError for a request with a session that was not sent by a page of this server
   */
  readonly authenticate = async (request: IncomingMessage): Promise<ApiPrincipal | undefined> => {
    const id = this.idIn(request);
    if (id === undefined || !(isSentByScript(request) || OPENED_PATHS.test(request.url ?? ''))) return undefined;
    // A session that another process has ended may still read for a second, but never change anything.
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const session = await this.cache.get(id, isRead, () => this.read(id));
    if (session === undefined) return undefined;
    assertKnownHost(request, this.hostNames);
    assertSameOrigin(request);
    return session;
  };

  /** Returns the given sessions that have ended, here or in another process. */
  async endedAmong(ids: readonly string[]): Promise<readonly string[]> {
    const remaining = new Set(await this.store.remaining(ids, this.now()));
    return ids.filter((id) => !remaining.has(id));
  }

  /** To be called when a token was changed, rotated or revoked. */
  forgetTokens(): void {
    this.cache.clear();
  }

  /** @returns how many sessions the user had */
  async removeOfUser(userId: string): Promise<number> {
    const removed = await this.store.removeOfUser(userId);
    this.cache.clear();
    return removed;
  }

  /** Waits for pending writes. */
  async settled(): Promise<void> {
    await Promise.all(this.pendingWrites);
  }

  private async insert(
    principal: ApiPrincipal,
    owner: Pick<StoredSession, 'userId' | 'token'>,
  ): Promise<OpenedSession> {
    const { maxAge, maxIdle } = this.lifetimes;
    const secret = randomBytes(32).toString('base64url');
    const now = this.now();
    const endsAt = now + maxAge;
    // The oldest is known among those of the same millisecond, too.
    this.lastCreatedAt = Math.max(now, this.lastCreatedAt + 1);
    await this.store.insert({
      _id: idOf(secret),
      ...owner,
      createdAt: this.lastCreatedAt,
      usedAt: now,
      endsAt,
      expiresAt: new Date(Math.min(endsAt, now + maxIdle)),
    });
    for (const id of await this.store.removeOldest(owner.userId, MAX_SESSIONS_PER_USER)) this.noteEnd(id);
    return { principal, cookie: this.cookie.set(secret, Math.floor(maxAge / 1_000)) };
  }

  private async endOf(request: Pick<IncomingMessage, 'headers'>): Promise<void> {
    const id = this.idIn(request);
    if (id !== undefined) await this.end(id);
  }

  private async end(id: string): Promise<void> {
    if (await this.store.remove(id)) this.noteEnd(id);
  }

  private noteEnd(id: string): void {
    this.cache.delete(id);
    for (const listener of this.listeners) listener(id);
  }

  private async read(id: string): Promise<ApiPrincipal | undefined> {
    const stored = await this.store.find(id, this.now());
    if (stored === undefined) return undefined;
    const { userId, token } = stored;
    const principal =
      token === undefined ? await this.identities?.verify(userId) : await this.tokens.verifySecretId(token.secretId);
    if (principal === undefined) return undefined;
    this.noteUse(stored);
    return { ...principal, sessionId: id };
  }

  /** The request does not wait for the write, and does not fail with it. */
  private noteUse({ _id, usedAt, endsAt }: StoredSession): void {
    const now = this.now();
    if (now - usedAt < USED_EVERY_MS) return;
    const write = this.store
      .setUsed(_id, now, Math.min(endsAt, now + this.lifetimes.maxIdle))
      .catch((error: unknown) => this.logger.warn('Could not store that a session was used.', error))
      .finally(() => this.pendingWrites.delete(write));
    this.pendingWrites.add(write);
  }
}

/** Pages on which people connect accounts, which contain nothing of other users. */
const OPENED_PATHS = /^\/oauth\//;

/** What is stored of a cookie: useless for authentication. */
function idOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
