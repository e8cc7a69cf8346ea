/**
 * An account at a server, for the official client, which follows the protocol's rules of authorization: it finds the
 * server's authorization server, registers, uses PKCE and resource indicators, and checks who issued an answer. What it
 * has learned is kept by the app, under the issuer that it belongs to.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type {
  OAuthClientInformationContext,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { LLMInvalidRequestError } from '../../../domain/errors/LLMErrors';

/** Keeps an account. What it is given contains secrets: it must be sealed. */
export interface McpAccountStore {
  /** What `save` was given last. */
  load(): Promise<string | undefined>;
  save(account: string): Promise<void>;
}

export interface McpOAuthSettings {
  /** Where the authorization server sends the person back to: pass what comes there to `finishAuthorization`. */
  readonly redirectUrl: string;
  readonly store: McpAccountStore;
  /** Sends the person to the authorization server. */
  readonly onAuthorize: (url: URL) => void | Promise<void>;
  /** Of a client that was registered before. Default: the client registers itself. */
  readonly clientId?: string;
  readonly clientSecret?: string;
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
  /** The server that it is an account at. */
  readonly resource?: string;
  /** The authorization server that knows the client of the settings: the first that was met. */
  readonly clientIssuer?: string;
}

const NO_ISSUER = '';

export class McpOAuth implements OAuthClientProvider {
  readonly redirectUrl: string;
  readonly clientMetadataUrl?: string;
  private readonly settings: McpOAuthSettings;
  private readonly resource: string;
  /** Changes are made one after another. */
  private last: Promise<unknown> = Promise.resolve();

  /** @param resource the server's URL: what was saved for another one is not used */
  constructor(settings: McpOAuthSettings, resource: string) {
    this.settings = settings;
    this.resource = resource;
    this.redirectUrl = settings.redirectUrl;
    if (settings.clientMetadataUrl !== undefined) this.clientMetadataUrl = settings.clientMetadataUrl;
  }

  get clientMetadata(): OAuthClientMetadata {
    return {
      client_name: 'Bolide',
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      ...(this.settings.clientSecret === undefined ? {} : { token_endpoint_auth_method: 'client_secret_basic' }),
    };
  }

  async state(): Promise<string> {
    const state = randomBytes(32).toString('base64url');
    await this.change(() => ({ state }));
    return state;
  }

  async clientInformation(ctx?: OAuthClientInformationContext): Promise<StoredOAuthClientInformation | undefined> {
    const { clientId, clientSecret } = this.settings;
    if (clientId !== undefined && (await this.isKnownAt(ctx?.issuer)))
      return {
        client_id: clientId,
        ...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
        ...(ctx === undefined ? {} : { issuer: ctx.issuer }),
      };
    return (await this.load()).clients?.[ctx?.issuer ?? NO_ISSUER];
  }

  /** A server must not have the client's secret sent to an authorization server of its choice. */
  private async isKnownAt(issuer: string | undefined): Promise<boolean> {
    const { clientIssuer } = await this.load();
    if (issuer === undefined) return true;
    if (clientIssuer === undefined) await this.change(() => ({ clientIssuer: issuer }));
    return clientIssuer === undefined || clientIssuer === issuer;
  }

  saveClientInformation(client: StoredOAuthClientInformation, ctx?: OAuthClientInformationContext): Promise<void> {
    return this.change(({ clients }) => ({ clients: { ...clients, [ctx?.issuer ?? NO_ISSUER]: client } }));
  }

  async tokens(ctx?: OAuthClientInformationContext): Promise<StoredOAuthTokens | undefined> {
    const { tokens, issuer } = await this.load();
    return tokens?.[ctx?.issuer ?? issuer ?? NO_ISSUER];
  }

  saveTokens(tokens: StoredOAuthTokens, ctx?: OAuthClientInformationContext): Promise<void> {
    const issuer = ctx?.issuer ?? NO_ISSUER;
    return this.change((account) => ({ tokens: { ...account.tokens, [issuer]: tokens }, issuer }));
  }

  async redirectToAuthorization(url: URL): Promise<void> {
    await this.settings.onAuthorize(url);
  }

  saveCodeVerifier(verifier: string): Promise<void> {
    return this.change(() => ({ verifier }));
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
        case 'tokens':
          return { tokens: undefined };
        case 'verifier':
          return { verifier: undefined };
        case 'discovery':
          return { ...account, discovery: undefined };
      }
    });
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
    const stored = await this.settings.store.load();
    const account = stored === undefined ? {} : (JSON.parse(stored) as Account);
    return account.resource === this.resource ? account : {};
  }

  private change(
    change: (account: Account) => { readonly [F in keyof Account]?: Account[F] | undefined },
  ): Promise<void> {
    const changed = this.last.then(async () => {
      const account = await this.load();
      await this.settings.store.save(JSON.stringify({ ...account, ...change(account), resource: this.resource }));
    });
    this.last = changed.catch(() => undefined);
    return changed;
  }
}

const CLEARED = { clients: undefined, tokens: undefined, verifier: undefined, discovery: undefined };
