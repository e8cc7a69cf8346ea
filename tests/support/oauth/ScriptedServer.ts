/** An authorization server under a test's control that records the refresh tokens it receives. */
import {
  OAuthRefusal,
  StaleLeaseError,
} from '../../../imports/business/providers/domain/interfaces/AuthorizationServer';
import type { AuthorizationServer } from '../../../imports/business/providers/domain/interfaces/AuthorizationServer';
import type { TokenSet } from '../../../imports/business/providers/domain/types/TokenSet';

export class ScriptedServer implements AuthorizationServer {
  /** The refresh tokens received, in order of arrival. */
  readonly shown: string[] = [];
  readonly revoked: string[] = [];
  /** Runs before a refresh is sent; tests pause a process here. */
  beforeSend: () => Promise<void> = () => Promise.resolve();
  /** Runs after the server has processed the request, before its response arrives. */
  beforeAnswer: () => Promise<void> = () => Promise.resolve();
  /** Whether reuse of a refresh token revokes the grant, as on strict servers. */
  isStrict = true;
  expiresInMs: number | undefined = 3_600_000;
  private current = 'refresh-0';
  private count = 0;
  private dead = false;

  prepare(): Promise<void> {
    return Promise.resolve();
  }

  authorizationUrl(): Promise<URL> {
    return Promise.resolve(new URL('https://server.example/auth'));
  }

  exchange(): Promise<TokenSet> {
    return Promise.resolve(this.next());
  }

  async refresh(_client: unknown, refreshToken: string, mayStillSend: () => boolean): Promise<TokenSet> {
    await this.beforeSend();
    if (!mayStillSend()) throw new StaleLeaseError();
    this.shown.push(refreshToken);
    if (this.dead || refreshToken !== this.current) {
      if (this.isStrict) this.dead = true;
      throw new OAuthRefusal('invalid_grant', 'token already used');
    }
    const tokens = this.next();
    await this.beforeAnswer();
    return tokens;
  }

  async clientCredentials(): Promise<TokenSet> {
    await this.beforeSend();
    return { kind: 'bearer', accessToken: `app-${(this.count += 1)}`, expiresInMs: 3_600_000 };
  }

  revoke(_client: unknown, { accessToken }: { readonly accessToken: string }): Promise<void> {
    this.revoked.push(accessToken);
    return Promise.resolve();
  }

  get isDead(): boolean {
    return this.dead;
  }

  private next(): TokenSet {
    this.count += 1;
    this.current = `refresh-${this.count}`;
    return {
      kind: 'bearer',
      accessToken: `access-${this.count}`,
      refreshToken: this.current,
      ...(this.expiresInMs === undefined ? {} : { expiresInMs: this.expiresInMs }),
    };
  }
}
