/**
 * Accounts at servers that admins have added: one of each user, or one that an admin has signed in to for all. A
 * sign-in has a store of its own until it has ended, so that neither other sign-ins nor calls interfere with it.
 */
import { invalid } from '../../../ai/domain/util/arguments';
import { mcpAccountPlace } from '../../domain/McpServer';
import type { McpOAuthConfig, StoredMcpServer } from '../../domain/McpServer';
import type { Logger } from '../../../ai/domain/interfaces/Logger';
import type { McpAccount, McpAccountKey, McpAccounts } from '../../domain/McpAccounts';
import { isList, isObject } from '../../../ai/domain/util/json';
import { omitUndefined } from '../../../ai/domain/util/omitUndefined';
import type { McpAccountStore, McpOAuthSettings } from '../McpOAuth';
import type { McpServerSettings } from '../McpServerSettings';
import type { McpSource } from '../McpSource';

export interface ServerAccountsPorts {
  readonly accounts: McpAccounts;
  readonly createSource: (settings: McpServerSettings) => McpSource;
  /** Where authorization servers send people back to. */
  readonly redirectUrl: string;
  /** @returns a page on which a user can sign in at the server of that name */
  readonly signInUrl: (name: string) => string;
  readonly logger: Logger;
}

/** A sign-in whose person is at the authorization server. */
export interface BegunSignIn {
  readonly url: URL;
  /** What is needed to finish it, which contains secrets. */
  readonly attempt: string;
}

/** The user who signs in. */
export interface SignedIn {
  readonly userId: string;
  readonly isAdmin: boolean;
}

type Server = Pick<StoredMcpServer, 'name' | 'config' | 'secrets'>;

export class ServerAccounts {
  private readonly ports: ServerAccountsPorts;

  constructor(ports: ServerAccountsPorts) {
    this.ports = ports;
  }

  /** How the server is connected: with the accounts that there are. */
  settingsOf({ name, config, secrets = {} }: Server): McpServerSettings {
    const { oauth, ...fields } = config;
    const { clientSecret, ...values } = secrets;
    const settings = { ...fields, ...values, name };
    if (oauth === undefined) return settings;
    const client = this.clientOf(oauth, clientSecret);
    const accounts =
      oauth.accounts === 'shared'
        ? { store: this.storeOf({ server: name, userId: null }) }
        : {
            store: this.listingStore(name),
            signInUrl: this.ports.signInUrl(name),
            storeOf: (userId: string) => this.storeOf({ server: name, userId }),
          };
    return { ...settings, oauth: { ...client, ...accounts } };
  }

  /** @throws LLMInvalidRequestError if the server has no sign-in, LLMConnectionError */
  async begin(server: Server, userId: string): Promise<BegunSignIn> {
    const known = await this.knownAccount(server.name, userId);
    const own = await this.ports.accounts.find(this.keyOf(server, userId));
    const registrations = registrationsIn(known?.content, this.ports.redirectUrl);
    const store = new AttemptStore(withDemandedScope(registrations, own?.content));
    let url: URL | undefined;
    await this.using(server, store, (source) => source.beginAuthorization(), {
      onAuthorize: (asked) => {
        url = asked;
      },
    });
    if (url === undefined || store.account === undefined)
      throw invalid('name', `is of an MCP server that asks nobody to sign in: "${server.name}"`);
    return { url, attempt: store.account };
  }

  /**
   * Takes what the authorization server has sent the person back with.
   * @param findServer the server as it is stored when that has succeeded
   * @returns false if the server was changed meanwhile: nothing is stored then
   * @throws LLMInvalidRequestError, LLMConnectionError, what the protocol's client throws
   */
  async finish(
    server: Server,
    { userId, isAdmin }: SignedIn,
    attempt: string,
    callback: URLSearchParams,
    findServer: () => Promise<Server | undefined>,
  ): Promise<boolean> {
    const store = new AttemptStore(attempt);
    await this.using(server, store, (source) => source.finishAuthorization(callback));
    const key = this.keyOf(server, userId);
    const content = store.account ?? '{}';
    await this.ports.accounts.put({ ...key, content, listsTools: isAdmin, signedInAt: Date.now() });
    // A removal deletes the server before its accounts: either it finds this account, or the server is missing here.
    const current = await findServer();
    if (current !== undefined && mcpAccountPlace(current.config) === mcpAccountPlace(server.config)) return true;
    await this.signOut(server, userId);
    return false;
  }

  /** @returns what a call was refused for since the user's sign-in: the next one asks for it */
  async missingScope(server: Server, userId: string): Promise<string | undefined> {
    const { content } = (await this.ports.accounts.find(this.keyOf(server, userId))) ?? {};
    const account: unknown = content === undefined ? undefined : JSON.parse(content);
    return isObject(account) && typeof account.missingScope === 'string' ? account.missingScope : undefined;
  }

  /** Deletes the account, and has its tokens revoked. @returns what it was */
  async signOut(server: Server, userId: string): Promise<McpAccount | undefined> {
    const { accounts, logger } = this.ports;
    const account = await accounts.take(this.keyOf(server, userId));
    if (account?.content === undefined) return account;
    const store = new AttemptStore(account.content);
    await this.using(server, store, (source) => source.revokeAuthorization()).catch((error: unknown) => {
      logger.warn(`The tokens of an account at the MCP server "${server.name}" were not revoked.`, error);
    });
    return account;
  }

  private keyOf({ name, config }: Server, userId: string): McpAccountKey {
    return { server: name, userId: config.oauth?.accounts === 'shared' ? null : userId };
  }

  private async using(
    server: Server,
    store: McpAccountStore,
    work: (source: McpSource) => Promise<void>,
    more: Partial<McpOAuthSettings> = {},
  ): Promise<void> {
    const { oauth } = server.config;
    if (oauth === undefined) throw invalid('name', `is of an MCP server without sign-in: "${server.name}"`);
    const client = this.clientOf(oauth, server.secrets?.clientSecret);
    const source = this.ports.createSource({ ...this.settingsOf(server), oauth: { ...client, store, ...more } });
    try {
      await work(source);
    } finally {
      await source.close();
    }
  }

  private clientOf(
    { clientId, issuer, clientMetadataUrl }: McpOAuthConfig,
    clientSecret: string | undefined,
  ): Omit<McpOAuthSettings, 'store'> {
    return omitUndefined({
      redirectUrl: this.ports.redirectUrl,
      clientId,
      clientSecret,
      clientIssuer: issuer,
      clientMetadataUrl,
    });
  }

  /** One from which to learn how this app is registered. */
  private async knownAccount(server: string, userId: string): Promise<McpAccount | undefined> {
    const { accounts } = this.ports;
    return (await accounts.findListing(server)) ?? accounts.find({ server, userId });
  }

  private storeOf(key: McpAccountKey): McpAccountStore {
    return this.createStore(() => this.ports.accounts.find(key));
  }

  private listingStore(server: string): McpAccountStore {
    return this.createStore(() => this.ports.accounts.findListing(server));
  }

  private createStore(find: () => Promise<McpAccount | undefined>): McpAccountStore {
    return {
      load: async () => (await find())?.content,
      save: async (content, replaced) => {
        const account = await find();
        // The user has signed out, so the account must not come back.
        if (account?.content === undefined) return true;
        if (account.content !== replaced) return false;
        return this.ports.accounts.replaceContent(account, content, account.revision);
      },
    };
  }
}

/** The account of a sign-in in progress, in memory. */
class AttemptStore implements McpAccountStore {
  account: string | undefined;

  constructor(account: string | undefined) {
    this.account = account;
  }

  load(): Promise<string | undefined> {
    return Promise.resolve(this.account);
  }

  save(account: string): Promise<void> {
    this.account = account;
    return Promise.resolve();
  }
}

/** @param own the account that the sign-in replaces */
function withDemandedScope(registrations: string | undefined, own: string | undefined): string | undefined {
  const account: unknown = own === undefined ? undefined : JSON.parse(own);
  if (!isObject(account) || typeof account.scope !== 'string') return registrations;
  const { resource, scope } = account;
  return JSON.stringify({ ...(JSON.parse(registrations ?? '{}') as object), resource, scope });
}

/** How this app is registered, which is nobody's own: not their tokens. */
function registrationsIn(content: string | undefined, redirectUrl: string): string | undefined {
  const account: unknown = content === undefined ? undefined : JSON.parse(content);
  if (!isObject(account) || !isObject(account.clients)) return undefined;
  const { clientIssuer, resource } = account;
  // The app may have moved since.
  const clients = Object.entries(account.clients).filter(
    ([, client]) => isObject(client) && isList(client.redirect_uris) && client.redirect_uris.includes(redirectUrl),
  );
  return JSON.stringify({ clients: Object.fromEntries(clients), clientIssuer, resource });
}
