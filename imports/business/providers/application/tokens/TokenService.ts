/** Gives the AI module a token for each call, and never the refresh tokens or client secrets behind it. */
import { LLMAuthError, LLMPermissionError, LLMServerError } from '../../../ai/domain/errors/LLMErrors';
import type { Credential, CredentialSource } from '../../../ai/domain/interfaces/CredentialSource';
import { decideAccess } from '../../domain/entities/ProviderAccess';
import type { Provider } from '../../domain/entities/Provider';
import { credentialIdFor } from '../../domain/entities/StoredCredential';
import type { CredentialId, StoredCredential } from '../../domain/entities/StoredCredential';
import { OAuthRefusal } from '../../domain/interfaces/AuthorizationServer';
import type { OAuthClient } from '../../domain/interfaces/AuthorizationServer';
import type { ProviderStore } from '../../domain/interfaces/ProviderStore';
import type { UserLookup } from '../../../ai/domain/types/Actor';
import type { OAuthSettings } from '../../domain/types/OAuthSettings';
import type { CredentialVault } from '../credentials/CredentialVault';
import { destinationHash } from '../credentials/CredentialVault';
import type { OAuthClients } from '../oauth/OAuthClients';
import type { RefreshTarget, TokenContent } from './RefreshTarget';
import type { TokenRefresher } from './TokenRefresher';
import type { UsageLimits } from '../UsageLimits';

export interface TokenServicePorts {
  readonly providers: ProviderStore;
  readonly vault: CredentialVault;
  readonly clients: OAuthClients;
  readonly refresher: TokenRefresher;
  readonly limits: UsageLimits;
  readonly findUser: UserLookup;
}

type CredentialRequest = Parameters<CredentialSource['getAccessToken']>[0];

/** A provider as the caller has read it. */
interface BoundProvider {
  readonly row: Provider;
  readonly destination: string;
}

interface KeyReading {
  readonly id: CredentialId;
  readonly key: Promise<StoredCredential | undefined>;
}

export class TokenService implements CredentialSource {
  private readonly ports: TokenServicePorts;

  constructor(ports: TokenServicePorts) {
    this.ports = ports;
  }

  /**
   * Counts as one request of the user, unless it forces a refresh for a request that was counted already.
   * @throws LLMPermissionError if the provider does not exist or the user may not use it, LLMRateLimitError if a limit
   *   is reached, LLMAuthError without a usable credential
   */
  getAccessToken(request: CredentialRequest): Promise<Credential | undefined> {
    return this.tokenFor(request);
  }

  /**
   * Like `getAccessToken`, for a caller that will send the token to the server in `row`: yields no token if the
   * provider's server has changed since.
   * @throws besides those errors a retryable LLMServerError; the caller must retry with the current row
   */
  boundTo(row: Provider): CredentialSource {
    const destination = destinationHash(row);
    return { getAccessToken: (request) => this.tokenFor(request, { row, destination }) };
  }

  private async tokenFor(
    { providerId, userId, forceRefresh = false, refusedToken }: CredentialRequest,
    bound?: BoundProvider,
  ): Promise<Credential | undefined> {
    // Read together with what the provider is by now, and opened only for that.
    const reading = bound === undefined ? undefined : this.readKey(bound.row, userId);
    const provider = await this.admit(providerId, userId);
    if (bound !== undefined && destinationHash(provider) !== bound.destination) {
      throw new LLMServerError(`The settings of "${provider.name}" have just changed. Try again.`, { retryable: true });
    }
    if (!forceRefresh) await this.ports.limits.admit(provider, userId);
    const { auth } = provider;
    if (!('oauth' in auth) || auth.oauth.protocol === 'key_exchange') return this.key(provider, userId, reading);
    const target =
      auth.kind === 'oauth_app'
        ? await this.appTarget(provider, auth.oauth)
        : this.userTarget(provider, auth.oauth, userId);
    return {
      kind: 'bearer',
      token: await this.ports.refresher.tokenFor(target, { forced: forceRefresh, refusedToken }),
      ...(target.userId === null ? {} : { isOwn: true }),
    };
  }

  private async admit(providerId: string, userId: string): Promise<Provider> {
    const { providers, findUser } = this.ports;
    const [provider, user] = await Promise.all([providers.find(providerId), findUser(userId)]);
    if (provider === undefined || !decideAccess(provider, user).allowed)
      throw new LLMPermissionError('You may not use this provider.');
    return provider;
  }

  private readKey(provider: Provider, userId: string): KeyReading | undefined {
    const id = credentialIdFor(provider, userId);
    // Tokens are read by whoever refreshes them.
    if (id.kind !== 'api_key') return undefined;
    const key = this.ports.vault.store.find(id);
    // Reported where it is opened, if it ever is.
    key.catch(() => undefined);
    return { id, key };
  }

  private async key(
    provider: Provider,
    userId: string,
    reading: KeyReading | undefined,
  ): Promise<Credential | undefined> {
    const { kind, userId: holder } = credentialIdFor(provider, userId);
    const isSame = reading?.id.kind === kind && reading.id.userId === holder;
    const opened = await this.ports.vault.open(provider, kind, holder, isSame ? reading.key : undefined);
    if (opened?.content.type === 'api_key')
      return { kind: 'api_key', token: opened.content.key, ...(holder === null ? {} : { isOwn: true }) };
    if (isKeyless(provider)) return undefined;
    throw new LLMAuthError(missingKey(provider));
  }

  private userTarget(provider: Provider, settings: OAuthSettings, userId: string): RefreshTarget {
    const { clients } = this.ports;
    const server = clients.serverFor(settings);
    let client: OAuthClient = { settings };
    return {
      provider,
      userId,
      canRefresh: ({ refreshToken }) => refreshToken !== undefined,
      prepare: async () => {
        client = await clients.clientFor(provider, settings);
        await server.prepare(settings);
      },
      obtain: ({ refreshToken }, mayStillSend) => {
        if (refreshToken === undefined)
          return Promise.reject(new OAuthRefusal('invalid_grant', 'The server issued no refresh token.'));
        return server.refresh(client, refreshToken, mayStillSend);
      },
      revoke: (content) =>
        clients.revoke(provider, settings, content, client.secret === undefined ? undefined : client),
    };
  }

  private async appTarget(provider: Provider, settings: OAuthSettings): Promise<RefreshTarget> {
    const { clients, vault } = this.ports;
    const server = clients.serverFor(settings);
    const id = {
      providerId: provider._id,
      userId: null,
      kind: 'oauth',
      destination: destinationHash(provider),
    } as const;
    // Start with an expired token: processes need a row to agree on which of them requests the first one.
    if ((await vault.store.find(id)) === undefined)
      await vault.store.add({ ...id, ...vault.seal(id, NO_TOKEN), state: 'ready', expiresAt: 0 });
    return {
      provider,
      userId: null,
      canRefresh: () => true,
      prepare: () => server.prepare(settings),
      obtain: async () => {
        try {
          return await server.clientCredentials(await clients.clientFor(provider, settings));
        } catch (error) {
          // `invalid_grant` would ask users to reconnect, which can't fix the app's own credentials.
          throw error instanceof OAuthRefusal && error.error === 'invalid_grant'
            ? new OAuthRefusal('invalid_client', error.description)
            : error;
        }
      },
      revoke: (content) => clients.revoke(provider, settings, content),
    };
  }
}

const NO_TOKEN: TokenContent = { type: 'tokens', accessToken: '' };

/** Self-hosted servers often need no authentication. */
export function isKeyless({ vendor, auth, baseURL }: Provider): boolean {
  return auth.kind === 'api_key' && baseURL !== undefined && (vendor === 'openai_compatible' || vendor === 'llama');
}

function missingKey({ name, auth }: Provider): string {
  switch (auth.kind) {
    case 'api_key':
      return `No API key is set for "${name}". Ask an administrator to set one.`;
    case 'user_api_key':
      return `You have not set your API key for "${name}".`;
    default:
      return `No account is connected for "${name}". Connect one first.`;
  }
}
