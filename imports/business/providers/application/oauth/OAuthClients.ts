/**
 * This app as an OAuth client: picks the protocol, adds the client secret, and revokes tokens on a best-effort
 * basis.
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
   * Revokes tokens at the vendor. A failure is only logged.
   * @param client the client that obtained them, for providers whose stored client secret may be gone by now
   */
  async revoke(
    provider: Provider,
    settings: OAuthSettings,
    content: SecretContent,
    client?: OAuthClient,
  ): Promise<void> {
    if (content.type !== 'tokens') return;
    try {
      await this.serverFor(settings).revoke(client ?? (await this.clientFor(provider, settings)), content);
    } catch (error) {
      if (!isLLMError(error) && !(error instanceof OAuthRefusal)) throw error;
      this.log.warn('oauth:not-revoked', {
        providerId: provider._id,
        error: error instanceof OAuthRefusal ? error.error : error.code,
      });
    }
  }
}

/** @throws LLMInvalidRequestError if users don't connect accounts to this provider */
export function userOAuthSettings({ auth, name }: Provider): OAuthSettings {
  if (auth.kind === 'oauth_user') return auth.oauth;
  throw new LLMInvalidRequestError(`Provider "${name}" does not use connected accounts.`, {
    path: 'providerId',
  });
}
