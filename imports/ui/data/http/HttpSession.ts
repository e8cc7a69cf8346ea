/** The page's session at the server: who is signed in, and the connection whose requests are sent under it. */
import { DashboardError } from '../DashboardData';
import type { Access, Credentials, SessionCommands, OpenIdLink } from '../DashboardData';
import { HttpConnection } from './HttpConnection';
import { Observable } from '../Observable';
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';

export interface HttpSessionOptions {
  /** Where the server is: an origin, with the path below which its routes are mounted, if there is one. */
  readonly origin?: string;
  /** An API token, or what returns one before each request. Without it, the session's cookie is sent. */
  readonly token?: string | (() => string | undefined);
  /** Default: the global one. */
  readonly fetch?: typeof fetch;
  /** Offered on the sign-in page. */
  readonly openId?: OpenIdLink;
}

export class HttpSession implements SessionCommands {
  readonly access = new Observable<Access>({ state: 'checking' });
  readonly connection: HttpConnection;
  private readonly openId: OpenIdLink | undefined;
  private signOuts = 0;

  constructor(options: HttpSessionOptions) {
    this.openId = options.openId;
    this.connection = new HttpConnection({
      fetch: (input, init) => fetch(input, init),
      ...options,
      onSignedOut: () => this.setSignedOut(),
    });
  }

  /** Differs after every sign-out. */
  get id(): string {
    return String(this.signOuts);
  }

  readonly signIn = async (credentials: Credentials): Promise<void> => {
    if (credentials.method !== 'token')
      throw new DashboardError('invalid-request', 'This server signs in with an API token.');
    const { method: _, ...body } = credentials;
    await this.connection.beginSession(body);
    this.access.set({ state: 'signedIn' });
  };

  readonly signOut = async ({ staysHere = false }: { readonly staysHere?: boolean } = {}): Promise<void> => {
    const ended = await this.connection.endSession<{ readonly signOutUrl: string } | undefined>();
    this.setSignedOut();
    if (ended !== undefined && !staysHere) window.location.assign(ended.signOutUrl);
  };

  /** Finds out whether the page has a session. */
  async check(): Promise<void> {
    try {
      await this.connection.get('/api/session');
      this.access.set({ state: 'signedIn' });
    } catch (error) {
      // A 401 has already set the access. Without a response, the pages themselves show the error.
      const isRefused = error instanceof DashboardError && error.code === 'auth-failed';
      if (!isRefused && this.access.get().state === 'checking') this.access.set({ state: 'signedIn' });
    }
  }

  /** Shows the sign-in page. What the last user has loaded is not shown to the next. */
  private setSignedOut(): void {
    this.signOuts += 1;
    const { openId } = this;
    this.access.set(omitUndefined({ state: 'signedOut', method: 'token', openId }));
  }
}
