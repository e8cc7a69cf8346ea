/** Manages the providers, who may use them, and their API keys. */
import { ConflictError, LLMInvalidRequestError, LLMPermissionError } from '../../../ai/domain/errors/LLMErrors';
import { decideAccess } from '../../domain/entities/ProviderAccess';
import type { HttpRule } from '../../../ai/domain/util/arguments';
import { omitUndefined } from '../../../ai/domain/util/omitUndefined';
import type { AccessDecision } from '../../domain/entities/ProviderAccess';
import type { Provider } from '../../domain/entities/Provider';
import type { ProviderDetails } from '../../domain/entities/ProviderDetails';
import { toPublicProvider } from '../../domain/entities/PublicProvider';
import type { ConnectionState, PublicProvider } from '../../domain/entities/PublicProvider';
import { credentialIdFor, credentialKey } from '../../domain/entities/StoredCredential';
import type { StoredCredential } from '../../domain/entities/StoredCredential';
import type { AuthorizationStore } from '../../domain/interfaces/AuthorizationStore';
import type { Clock } from '../../domain/interfaces/Clock';
import type { EventLog } from '../../domain/interfaces/EventLog';
import type { ProviderStore } from '../../domain/interfaces/ProviderStore';
import type { User } from '../../../ai/domain/types/Actor';
import { destinationHash } from '../credentials/CredentialVault';
import type { CredentialVault } from '../credentials/CredentialVault';
import type { OAuthClients } from '../oauth/OAuthClients';
import { readNewProvider, readProviderChange } from './readProvider';
import type { ProviderSecrets, ParsedProvider } from './readProvider';
import { isKeyless } from '../tokens/TokenService';

export interface ProviderServicePorts {
  readonly providers: ProviderStore;
  readonly authorizations: AuthorizationStore;
  readonly vault: CredentialVault;
  readonly clients: OAuthClients;
  readonly clock: Clock;
  readonly log: EventLog;
  /** Permits plain http in providers' URLs: for development and tests only. */
  readonly allowInsecure: HttpRule;
}

/** Numbers of what was removed. */
export interface RemovedProviderData {
  readonly providers: number;
  readonly accessEntries: number;
  readonly credentials: number;
  readonly authorizations: number;
}

export class ProviderService {
  private readonly ports: ProviderServicePorts;

  constructor(ports: ProviderServicePorts) {
    this.ports = ports;
  }

  /** The stored provider. For internal use; `view` returns what users may see. */
  find(providerId: string): Promise<Provider | undefined> {
    return this.ports.providers.find(providerId);
  }

  all(): Promise<readonly Provider[]> {
    return this.ports.providers.all();
  }

  /** @param model also checks whether this model is allowed */
  async decide(providerId: string, user: User | undefined, model?: string): Promise<AccessDecision> {
    const provider = await this.ports.providers.find(providerId);
    return provider === undefined ? { allowed: false, reason: 'not-listed' } : decideAccess(provider, user, model);
  }

  /** The providers that the user may use. Admins also see disabled ones. */
  async list(user: User): Promise<readonly PublicProvider[]> {
    const { providers, vault } = this.ports;
    const [all, rows] = await Promise.all([providers.all(), vault.store.ofUser(user.userId)]);
    const credentials = new Map(rows.map((row) => [row._id, row]));
    return all
      .filter((provider) => isVisible(provider, user))
      .map((provider) => toPublicProvider(provider, stateOf(provider, user.userId, credentials)));
  }

  /** @throws LLMPermissionError if the provider does not exist or the user may not use it */
  async view(user: User, providerId: string): Promise<PublicProvider> {
    const found = (await this.list(user)).find(({ _id }) => _id === providerId);
    if (found === undefined) throw notAllowed();
    return found;
  }

  /** Everything but secrets, for admins. @throws LLMPermissionError as `view` does */
  async details(user: User, providerId: string): Promise<Omit<ProviderDetails, 'unfinishedRuns'>> {
    const [view, provider, rows] = await Promise.all([
      this.view(user, providerId),
      this.ports.providers.find(providerId),
      this.ports.vault.store.ofProvider(providerId),
    ]);
    if (provider === undefined) throw notAllowed();
    const { _id, name, vendor, defaultModel, allowedModels, enabled, configured, ...settings } = provider;
    const isShared = (kind: StoredCredential['kind']): boolean =>
      rows.some((row) => row.kind === kind && row.userId === null);
    return {
      ...view,
      settings,
      hasKey: configured === true || isShared('api_key'),
      hasClientSecret: isShared('client'),
      connectedUsers: new Set(rows.flatMap(({ userId }) => (userId === null ? [] : [userId]))).size,
    };
  }

  /** @throws LLMInvalidRequestError; ConflictError if the id is taken */
  async create(argument: unknown): Promise<Provider> {
    const parsed = readNewProvider(argument, this.ports.allowInsecure);
    const now = this.ports.clock.now();
    const provider: Provider = { ...parsed.provider, createdAt: now, updatedAt: now };
    await this.ports.providers.insert(provider);
    await this.storeSecrets(provider, parsed.secrets);
    this.ports.log.info('provider:created', { providerId: provider._id, kind: provider.auth.kind });
    return provider;
  }

  /**
   * Deletes the provider's secrets if the change would send them to another server.
   * @throws LLMInvalidRequestError, LLMPermissionError; ConflictError after a concurrent change
   */
  async update(providerId: string, argument: unknown): Promise<Provider> {
    const { providers, clock, log } = this.ports;
    const current = await this.changeable(providerId);
    const parsed: ParsedProvider = readProviderChange(argument, current, this.ports.allowInsecure);
    const { createdAt } = current;
    const provider: Provider = {
      ...parsed.provider,
      createdAt,
      updatedAt: Math.max(clock.now(), current.updatedAt + 1),
    };
    if (!(await providers.replace(provider, current.updatedAt)))
      throw new ConflictError(`Provider "${current.name}" was changed at the same time. Reload it and try again.`);
    if (destinationHash(provider) !== destinationHash(current)) await this.deleteCredentials(current);
    await this.storeSecrets(provider, parsed.secrets);
    log.info('provider:updated', { providerId });
    return provider;
  }

  /** Removes a provider with all its credentials. @throws LLMPermissionError if it does not exist */
  async remove(providerId: string): Promise<void> {
    const { providers, authorizations, log } = this.ports;
    const provider = await this.changeable(providerId);
    await providers.remove(providerId);
    await authorizations.removeOfProvider(providerId);
    await this.deleteCredentials(provider);
    log.info('provider:removed', { providerId });
  }

  /** @param key `null` removes it @throws LLMInvalidRequestError if the provider does not use a shared key */
  async setSharedKey(providerId: string, key: string | null): Promise<void> {
    const provider = await this.changeable(providerId);
    if (provider.auth.kind !== 'api_key')
      throw new LLMInvalidRequestError(`Provider "${provider.name}" does not use a shared API key.`, {
        path: 'providerId',
      });
    await this.setKey(provider, null, key);
  }

  /**
   * @param key `null` removes it
   * @throws LLMPermissionError; LLMInvalidRequestError if the provider does not use keys of individual users
   */
  async setOwnKey(user: User, providerId: string, key: string | null): Promise<void> {
    const provider = await this.ports.providers.find(providerId);
    if (provider === undefined || !decideAccess(provider, user).allowed) throw notAllowed();
    if (provider.auth.kind !== 'user_api_key')
      throw new LLMInvalidRequestError(`Provider "${provider.name}" does not use API keys of individual users.`, {
        path: 'providerId',
      });
    await this.setKey(provider, user.userId, key);
  }

  /**
   * Removes everything of a user: connections in progress, the providers that the user owns, the user's places in
   * access lists, and the user's credentials, which are revoked at the vendor. Can be repeated after an interruption.
   */
  async removeUser(userId: string): Promise<RemovedProviderData> {
    const { providers, authorizations, vault, clients, log } = this.ports;
    const removed = { authorizations: await authorizations.removeOfUser(userId), providers: 0, accessEntries: 0 };
    let credentials = 0;
    for (const provider of await providers.all()) {
      if (provider.configured === true) continue;
      if (provider.owner === userId) {
        credentials += await this.deleteCredentials(provider);
        await authorizations.removeOfProvider(provider._id);
        if (await providers.remove(provider._id)) removed.providers += 1;
      } else removed.accessEntries += await this.removeFromList(provider, userId);
    }
    const own = (await vault.store.ofUser(userId)).filter((row) => row.userId === userId);
    for (const row of own) {
      const taken = await vault.store.take(row);
      if (taken === undefined) continue;
      credentials += 1;
      const provider = await providers.find(row.providerId);
      const content = vault.contentOf(taken);
      if (content !== undefined && provider !== undefined && 'oauth' in provider.auth)
        await clients.revoke(provider, provider.auth.oauth, content);
    }
    log.info('user:removed', removed);
    return { ...removed, credentials };
  }

  /** @returns how many entries were removed */
  private async removeFromList(provider: Provider, userId: string): Promise<number> {
    const { providers, clock } = this.ports;
    for (let current: Provider | undefined = provider; current?.access.kind === 'list';) {
      const { access, updatedAt } = current;
      // An entry of a plain list is stored as a user and as a role.
      const isOther = (name: string): boolean => name !== userId;
      if (access.users.every(isOther) && access.roles.every(isOther)) return 0;
      const changed = {
        ...current,
        access: { ...access, users: access.users.filter(isOther), roles: access.roles.filter(isOther) },
        updatedAt: Math.max(clock.now(), updatedAt + 1),
      };
      if (await providers.replace(changed, updatedAt)) return 1;
      current = await providers.find(provider._id);
    }
    return 0;
  }

  private async setKey(provider: Provider, userId: string | null, key: string | null): Promise<void> {
    const { vault, log } = this.ports;
    if (key === null) await vault.store.take({ providerId: provider._id, userId, kind: 'api_key' });
    else await vault.put(provider, 'api_key', userId, { type: 'api_key', key });
    log.info(key === null ? 'key:removed' : 'key:set', { providerId: provider._id, userId });
  }

  private async changeable(providerId: string): Promise<Provider> {
    const provider = await this.ports.providers.find(providerId);
    if (provider === undefined) throw notAllowed();
    if (provider.configured === true)
      throw new LLMInvalidRequestError(
        `Provider "${provider.name}" is defined in the server's settings. Change it there.`,
        {
          path: 'providerId',
        },
      );
    return provider;
  }

  private async storeSecrets(provider: Provider, { apiKey, clientSecret }: ProviderSecrets): Promise<void> {
    const { vault } = this.ports;
    if (apiKey !== undefined) await vault.put(provider, 'api_key', null, { type: 'api_key', key: apiKey });
    if (clientSecret !== undefined) await vault.put(provider, 'client', null, { type: 'client', secret: clientSecret });
  }

  /**
   * Revokes and deletes. The client secret goes last, because revoking the others needs it.
   * @returns the number of credentials
   */
  private async deleteCredentials(provider: Provider): Promise<number> {
    const { vault, clients } = this.ports;
    let deleted = 0;
    const rows = await vault.store.ofProvider(provider._id);
    for (const row of rows.toSorted(
      (left, right) => Number(left.kind === 'client') - Number(right.kind === 'client'),
    )) {
      const taken = await vault.store.take(row);
      if (taken === undefined) continue;
      deleted += 1;
      const content = vault.contentOf(taken);
      if (content !== undefined && 'oauth' in provider.auth)
        await clients.revoke(provider, provider.auth.oauth, content);
    }
    return deleted;
  }
}

function isVisible(provider: Provider, user: User): boolean {
  return user.isAdmin === true || decideAccess(provider, user).allowed;
}

function stateOf(
  provider: Provider,
  userId: string,
  credentials: ReadonlyMap<string, StoredCredential>,
): ConnectionState {
  if (provider.configured === true) return { connected: true, needsReconnect: false };
  const id =
    provider.auth.kind === 'oauth_app'
      ? ({ providerId: provider._id, userId: null, kind: 'client' } as const)
      : credentialIdFor(provider, userId);
  const row = credentials.get(credentialKey(id));
  if (row === undefined) return { connected: isKeyless(provider), needsReconnect: false };
  const isUsable = row.state === 'ready' && row.destination === destinationHash(provider);
  const { reconnectReason } = row;
  return omitUndefined({ connected: isUsable, needsReconnect: !isUsable, reconnectReason });
}

/** The same message in both cases, so that nobody can probe which providers exist. */
function notAllowed(): LLMPermissionError {
  return new LLMPermissionError('The provider does not exist, or you may not use it.');
}
