/**
 * This app as a client of authorization servers: the right protocol, the client's secret, and revocation that never
 * stands in the way.
 */
import { isLLMError, LLMInvalidRequestError } from '../../../ai/domain/errors/LLMErrors';
import type { Provider } from '../../domain/entities/Provider';
import type { SecretContent } from '../../domain/entities/StoredCredential';
import { OAuthRefusal } from '../../domain/interfaces/AuthorizationServer';
import type { AuthorizationServer, OAuthClient } from '../../domain/interfaces/AuthorizationServer';
import type { EventLog } from '../../domain/interfaces/EventLog';
import type { OAuthProtocol, OAuthSettings } from '../../domain/types/OAuthSettings';
import type { CredentialVault } from '../credentials/CredentialVault';

export type AuthorizationServers = Readonly<Record<OAuthProtocol, AuthorizationServer>>;

export class OAuthClients {
  private readonly servers: AuthorizationServers;
  private readonly vault: CredentialVault;
  private readonly log: EventLog;

  constructor(servers: AuthorizationServers, vault: CredentialVault, log: EventLog) {
    this.servers = servers;
    this.vault = vault;
    this.log = log;
  }

  serverFor({ protocol }: OAuthSettings): AuthorizationServer {
    return this.servers[protocol];
  }

  async clientFor(provider: Provider, settings: OAuthSettings): Promise<OAuthClient> {
    const opened = await this.vault.open(provider, 'client', null);
    return opened?.content.type === 'client' ? { settings, secret: opened.content.secret } : { settings };
  }

  /**
   * Tells the vendor that the tokens are no longer wanted. What becomes of it changes nothing here: it is logged.
   * @param known who this app was when it got them, where the provider may be gone by now, and its secret with it
   */
  async revoke(
    provider: Provider,
    settings: OAuthSettings,
    content: SecretContent,
    known?: OAuthClient,
  ): Promise<void> {
    if (content.type !== 'tokens') return;
    try {
      await this.serverFor(settings).revoke(known ?? (await this.clientFor(provider, settings)), content);
    } catch (error) {
      if (!isLLMError(error) && !(error instanceof OAuthRefusal)) throw error;
      this.log.warn('oauth:not-revoked', {
        providerId: provider._id,
        error: error instanceof OAuthRefusal ? error.error : error.code,
      });
    }
  }
}

/** @throws LLMInvalidRequestError for a provider that no user connects an account to */
export function userOAuthSettings({ auth, name }: Provider): OAuthSettings {
  if (auth.kind === 'oauth_user') return auth.oauth;
  throw new LLMInvalidRequestError(`'${name}' is not a provider that accounts are connected to.`, {
    path: 'providerId',
  });
}
