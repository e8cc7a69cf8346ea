/**
 * An account at a server, for the official client, which follows the protocol's rules of authorization: it finds the
 * server's authorization server, registers, uses PKCE and resource indicators, and checks who issued an answer. What it
 * has learned is kept by the app, under the issuer that it belongs to.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type {
  OAuthClientInformationContext,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { ConflictError, LLMInvalidRequestError } from '../../ai/domain/errors/LLMErrors';
import { parseAllowedUrl } from '../../ai/infrastructure/clients/http/addressGuard';
import type { PrivateHosts } from '../../ai/infrastructure/clients/http/privateHosts';
import { omitUndefined } from '../../ai/domain/util/omitUndefined';
import { revocationRequest } from './revocationRequest';
import type { RevocationRequest } from './revocationRequest';

/** Keeps an account. What it is given contains secrets: it must be sealed. */
export interface McpAccountStore {
  /** What `save` was given last. */
  load(): Promise<string | undefined>;
  /**
   * @param replaced what `load` has returned for this change
   * @returns false if others have changed the account since: it is then loaded and changed again
   */
  save(account: string, replaced: string | undefined): Promise<unknown>;
}

export interface McpOAuthSettings {
  /** Where the authorization server sends the person back to: pass what comes there to `finishAuthorization`. */
  readonly redirectUrl: string;
  /** The account that the server's tools are listed with, and used with unless there is `storeOf`. */
  readonly store: McpAccountStore;
  /** The account that calls of a user are made with. */
  readonly storeOf?: (userId: string) => McpAccountStore;
  /**
   * A page on which the user of a call can sign in, whom a call waits for when the server demands wider scopes. Absent:
   * the call fails.
   */
  readonly signInUrl?: string;
  /** Sends the person to the authorization server. Absent: without an account, the server is not used. */
  readonly onAuthorize?: (url: URL) => void | Promise<void>;
  /** The id of a client registered beforehand. Default: the client registers itself. */
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** The authorization server that knows `clientId`. Default: the first that the account has met. */
  readonly clientIssuer?: string;
  /** The https URL of the client's metadata document, for authorization servers that read one. */
  readonly clientMetadataUrl?: string;
}

interface Account {
  readonly clients?: Readonly<Record<string, StoredOAuthClientInformation>>;
  readonly tokens?: Readonly<Record<string, StoredOAuthTokens>>;
  /** The authorization server whose tokens were saved last. */
  readonly issuer?: string;
  readonly discovery?: OAuthDiscoveryState;
  readonly verifier?: string;
  readonly state?: string;
  /** What sign-ins ask for beside what the server names then: it was demanded once. */
  readonly scope?: string;
  /** What has been demanded since the last sign-in. */
  readonly missingScope?: string;
  /** The server that it is an account at. */
  readonly resource?: string;
  /** The authorization server that knows the client of the settings: the first that was met. */
  readonly clientIssuer?: string;
  /** Until when nobody else refreshes the tokens, in milliseconds since the epoch. */
  readonly refreshingUntil?: number;
}

type Change = { readonly [F in keyof Account]?: Account[F] | undefined };

const NO_ISSUER = '';
/** Longer than a refresh may take. */
const REFRESH_LEASE_MS = 90_000;
const REFRESH_POLL_MS = 100;
const MAX_CHANGE_ATTEMPTS = 20;
/** Characters of all scopes that are asked for because they were demanded. */
const MAX_SCOPE_LENGTH = 2_000;

/** Nobody has signed in, and nobody can be sent to the authorization server. */
export class SignInRequiredError extends Error {
  constructor() {
    super('Nobody has signed in.');
    this.name = 'SignInRequiredError';
  }
}

export class McpOAuth implements OAuthClientProvider {
  readonly redirectUrl: string;
  readonly clientMetadataUrl?: string;
  private readonly settings: McpOAuthSettings;
  private readonly resource: string;
  private readonly privateHosts: PrivateHosts;
  /** Changes are made one after another. */
  private last: Promise<unknown> = Promise.resolve();
  /** The refresh token that was used last. */
  private refreshed: string | undefined;

  /**
   * @param resource the server's URL: what was saved for another one is not used
   * @param privateHosts the authorization servers that need not be public, nor use https
   */
  constructor(settings: McpOAuthSettings, resource: string, privateHosts: PrivateHosts) {
    this.settings = settings;
    this.resource = resource;
    this.privateHosts = privateHosts;
    this.redirectUrl = settings.redirectUrl;
    if (settings.clientMetadataUrl !== undefined) this.clientMetadataUrl = settings.clientMetadataUrl;
  }

  /** Somebody can be sent to the authorization server. */
  get isInteractive(): boolean {
    return this.settings.onAuthorize !== undefined;
  }

  get clientMetadata(): OAuthClientMetadata {
    return omitUndefined({
      client_name: 'Bolide',
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: this.settings.clientSecret === undefined ? undefined : 'client_secret_basic',
    });
  }

  async state(): Promise<string> {
    const state = randomBytes(32).toString('base64url');
    if (this.isInteractive) await this.change(() => ({ state }));
    return state;
  }

  async clientInformation(ctx?: OAuthClientInformationContext): Promise<StoredOAuthClientInformation | undefined> {
    const { clientId, clientSecret } = this.settings;
    if (clientId !== undefined && (await this.isKnownAt(ctx?.issuer)))
      return omitUndefined({ client_id: clientId, client_secret: clientSecret, issuer: ctx?.issuer });
    return (await this.load()).clients?.[ctx?.issuer ?? NO_ISSUER];
  }

  /** A server must not have the client's secret sent to an authorization server of its choice. */
  private async isKnownAt(issuer: string | undefined): Promise<boolean> {
    const { clientIssuer = this.settings.clientIssuer } = await this.load();
    if (issuer === undefined) return true;
    if (clientIssuer === undefined) await this.change(() => ({ clientIssuer: issuer }));
    // The client of the protocol treats them as equal, too.
    return clientIssuer === undefined || clientIssuer.replace(/\/$/, '') === issuer.replace(/\/$/, '');
  }

  saveClientInformation(client: StoredOAuthClientInformation, ctx?: OAuthClientInformationContext): Promise<void> {
    return this.change(({ clients }) => ({ clients: { ...clients, [ctx?.issuer ?? NO_ISSUER]: client } }));
  }

  async tokens(ctx?: OAuthClientInformationContext): Promise<StoredOAuthTokens | undefined> {
    const { tokens, issuer } = await this.load();
    const found = tokens?.[ctx?.issuer ?? issuer ?? NO_ISSUER];
    // With an issuer, they are for a refresh.
    if (ctx !== undefined) this.refreshed = found?.refresh_token;
    return found;
  }

  /** Whether somebody has signed in. */
  async hasTokens(): Promise<boolean> {
    return (await this.tokens()) !== undefined;
  }

  saveTokens(tokens: StoredOAuthTokens, ctx?: OAuthClientInformationContext): Promise<void> {
    const issuer = ctx?.issuer ?? NO_ISSUER;
    return this.change((account) => ({
      tokens: { ...account.tokens, [issuer]: tokens },
      issuer,
      refreshingUntil: undefined,
    }));
  }

  /**
   * Claims the refresh of the tokens for one caller in all processes, since a refresh token may be used only once.
   * Other callers wait for the new tokens. `saveTokens` or `releaseRefresh` ends the claim.
   * @returns the new tokens; undefined for the caller that must refresh them
   */
  async claimRefresh(refreshToken: string): Promise<StoredOAuthTokens | undefined> {
    for (;;) {
      const found: { replaced?: StoredOAuthTokens | undefined; isClaimed: boolean } = { isClaimed: false };
      await this.change(({ tokens, issuer, refreshingUntil = 0 }) => {
        const current = tokens?.[issuer ?? NO_ISSUER];
        found.replaced = current?.refresh_token === refreshToken ? undefined : current;
        found.isClaimed = found.replaced === undefined && refreshingUntil <= Date.now();
        return found.isClaimed ? { refreshingUntil: Date.now() + REFRESH_LEASE_MS } : undefined;
      });
      if (found.isClaimed || found.replaced !== undefined) return found.replaced;
      await delay(REFRESH_POLL_MS);
    }
  }

  releaseRefresh(): Promise<void> {
    return this.change(() => ({ refreshingUntil: undefined }));
  }

  /** The next sign-in asks for it, and for what the account has now. */
  demandScope(demanded: string): Promise<void> {
    return this.change(({ scope, missingScope, tokens, issuer }) => ({
      scope: boundedUnion(demanded, tokens?.[issuer ?? NO_ISSUER]?.scope, scope),
      missingScope: boundedUnion(demanded, missingScope),
    }));
  }

  /** @throws LLMInvalidRequestError for an address that the MCP server has no right to open in a browser */
  async redirectToAuthorization(url: URL): Promise<void> {
    parseAllowedUrl(url, this.privateHosts);
    const { scope } = await this.load();
    const all = unionOf(url.searchParams.get('scope') ?? undefined, scope);
    if (all !== '') url.searchParams.set('scope', all);
    await this.settings.onAuthorize?.(url);
  }

  saveCodeVerifier(verifier: string): Promise<void> {
    return this.isInteractive ? this.change(() => ({ verifier })) : Promise.resolve();
  }

  async codeVerifier(): Promise<string> {
    return (await this.load()).verifier ?? '';
  }

  saveDiscoveryState(discovery: OAuthDiscoveryState): Promise<void> {
    return this.change(() => ({ discovery }));
  }

  async discoveryState(): Promise<OAuthDiscoveryState | undefined> {
    return (await this.load()).discovery;
  }

  invalidateCredentials(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): Promise<void> {
    return this.change(({ state, ...account }) => {
      const kept = state === undefined ? {} : { state };
      switch (scope) {
        case 'all':
          return { ...CLEARED, ...kept };
        case 'client':
          return { clients: undefined };
        case 'tokens': {
          const { tokens, issuer = NO_ISSUER } = account;
          // Another process may have refreshed them meanwhile.
          return tokens?.[issuer]?.refresh_token === this.refreshed ? { tokens: undefined } : undefined;
        }
        case 'verifier':
          return { verifier: undefined };
        case 'discovery':
          return { ...account, discovery: undefined };
      }
    });
  }

  /** @returns undefined if there is nothing to revoke, or the authorization server revokes nothing */
  async revocation(): Promise<RevocationRequest | undefined> {
    const { discovery, issuer } = await this.load();
    const tokens = await this.tokens();
    if (tokens === undefined) return undefined;
    const client = await this.clientInformation(issuer === undefined ? undefined : { issuer });
    return revocationRequest(discovery, client, tokens);
  }

  /** An answer that this account did not ask for is somebody else's. @throws LLMInvalidRequestError */
  async assertState(given: string | null): Promise<void> {
    const { state = '' } = await this.load();
    await this.change(() => ({ state: undefined }));
    const expected = Buffer.from(state);
    const actual = Buffer.from(given ?? '');
    if (state !== '' && expected.length === actual.length && timingSafeEqual(expected, actual)) return;
    throw new LLMInvalidRequestError('The answer of the authorization server belongs to no sign-in in progress.', {
      path: 'state',
    });
  }

  private async load(): Promise<Account> {
    return this.accountIn(await this.settings.store.load());
  }

  private accountIn(stored: string | undefined): Account {
    const account = stored === undefined ? {} : (JSON.parse(stored) as Account);
    return account.resource === this.resource ? account : {};
  }

  /** @param change returns undefined to leave the account as it is */
  private change(change: (account: Account) => Change | undefined): Promise<void> {
    const changed = this.last.then(() => this.changeNow(change));
    this.last = changed.catch(() => undefined);
    return changed;
  }

  private async changeNow(change: (account: Account) => Change | undefined): Promise<void> {
    const { store } = this.settings;
    for (let attempt = 0; attempt < MAX_CHANGE_ATTEMPTS; attempt += 1) {
      const stored = await store.load();
      const account = this.accountIn(stored);
      const changes = change(account);
      if (changes === undefined) return;
      const saved = await store.save(JSON.stringify({ ...account, ...changes, resource: this.resource }), stored);
      if (saved !== false) return;
    }
    throw new ConflictError('The account is being changed by others. Try again.');
  }
}

/** Merges space-separated lists, with each scope once. https://www.rfc-editor.org/rfc/rfc6749#section-3.3 */
function unionOf(...scopes: readonly (string | undefined)[]): string {
  return [...new Set(scopes.flatMap((each = '') => each.split(/\s+/).filter((scope) => scope !== '')))].join(' ');
}

/** A server that demands something else each time does not make the account grow. The first ones count most. */
function boundedUnion(...scopes: readonly (string | undefined)[]): string {
  const all = unionOf(...scopes);
  return all.length <= MAX_SCOPE_LENGTH ? all : all.slice(0, all.lastIndexOf(' ', MAX_SCOPE_LENGTH) + 1).trimEnd();
}

const CLEARED = { clients: undefined, tokens: undefined, verifier: undefined, discovery: undefined };
