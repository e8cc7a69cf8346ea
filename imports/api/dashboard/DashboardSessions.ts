/** Dashboard sessions: a browser exchanges an API token once for a cookie that no script can read. */
import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { ApiPrincipal } from '../auth/ApiPrincipal';
import { assertKnownHost, assertSameOrigin } from './sameOrigin';

export interface DashboardSessionsOptions {
  /** The principal of a token, or undefined if it is invalid. */
  readonly verify: (token: string) => Promise<ApiPrincipal | undefined>;
  /** Host names of the server, besides its IP addresses and `localhost`. */
  readonly hostNames?: readonly string[];
  /** Browsers reach the server over https only. */
  readonly isSecure?: boolean;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

interface Session {
  readonly token: string;
  readonly userId: string;
  readonly endsAt: number;
}

const SESSION_SECONDS = 12 * 60 * 60;
/** Beyond it, the user's oldest session ends. */
const MAX_SESSIONS_PER_USER = 20;

export class DashboardSessions {
  readonly hostNames: readonly string[];
  readonly verify: DashboardSessionsOptions['verify'];
  private readonly cookieName: string;
  private readonly attributes: string;
  private readonly now: () => number;
  /** By the hash of the cookie's value, oldest first. */
  private readonly sessions = new Map<string, Session>();

  constructor({ verify, hostNames = [], isSecure = false, now = Date.now }: DashboardSessionsOptions) {
    this.verify = verify;
    this.hostNames = hostNames;
    this.now = now;
    // The prefix `__Host-` keeps sibling domains from setting the cookie. It requires https.
    this.cookieName = isSecure ? '__Host-bolide-session' : 'bolide-session';
    this.attributes = `Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  }

  /** @returns the principal and the `set-cookie` header, or undefined for an invalid token */
  async open(token: string): Promise<{ readonly principal: ApiPrincipal; readonly cookie: string } | undefined> {
    const principal = await this.verify(token);
    if (principal === undefined) return undefined;
    const secret = randomBytes(32).toString('base64url');
    const { userId } = principal;
    const now = this.now();
    for (const [key, { endsAt }] of this.sessions) if (endsAt <= now) this.sessions.delete(key);
    const own = [...this.sessions].filter(([, session]) => session.userId === userId);
    for (const [key] of own.slice(0, Math.max(0, own.length - MAX_SESSIONS_PER_USER + 1))) this.sessions.delete(key);
    this.sessions.set(keyOf(secret), { token, userId, endsAt: now + SESSION_SECONDS * 1_000 });
    return { principal, cookie: `${this.cookieName}=${secret}; Max-Age=${SESSION_SECONDS}; ${this.attributes}` };
  }

  /** @returns the `set-cookie` header that deletes the cookie */
  close(request: Pick<IncomingMessage, 'headers'>): string {
    const secret = this.cookieOf(request);
    if (secret !== undefined) this.sessions.delete(keyOf(secret));
    return `${this.cookieName}=; Max-Age=0; ${this.attributes}`;
  }

  /**
   * The principal of the request's session, as long as its token is valid.
   * @throws HttpError for a request with a session that was not sent by a page of this server
   */
  readonly authenticate = async (request: IncomingMessage): Promise<ApiPrincipal | undefined> => {
    const secret = this.cookieOf(request);
    const session = secret === undefined ? undefined : this.sessions.get(keyOf(secret));
    if (session === undefined || session.endsAt <= this.now()) return undefined;
    assertKnownHost(request, this.hostNames);
    assertSameOrigin(request);
    return this.verify(session.token);
  };

  /** The cookie's value. If there are several, someone else has set one, so none is accepted. */
  private cookieOf({ headers: { cookie = '' } }: Pick<IncomingMessage, 'headers'>): string | undefined {
    const start = `${this.cookieName}=`;
    const values = cookie
      .split(';')
      .map((pair) => pair.trim())
      .filter((pair) => pair.startsWith(start))
      .map((pair) => pair.slice(start.length));
    return values.length === 1 && /^[\w-]{43}$/.test(values[0] ?? '') ? values[0] : undefined;
  }
}

function keyOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
