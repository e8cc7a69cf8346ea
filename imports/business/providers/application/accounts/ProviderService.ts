/** Which providers there are, who may use them, and the keys that were set for them. */
import { ConflictError, LLMInvalidRequestError, LLMPermissionError } from '../../../ai/domain/errors/LLMErrors';
import { decideAccess } from '../../domain/entities/ProviderAccess';
import type { AccessDecision } from '../../domain/entities/ProviderAccess';
import type { Provider } from '../../domain/entities/Provider';
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
  readonly allowInsecure: boolean;
}

export class ProviderService {
  private readonly ports: ProviderServicePorts;

  constructor(ports: ProviderServicePorts) {
    this.ports = ports;
  }

  /** The whole row, for the host's own use: it is never shown. */
  find(providerId: string): Promise<Provider | undefined> {
    return this.ports.providers.find(providerId);
  }

  all(): Promise<readonly Provider[]> {
    return this.ports.providers.all();
  }

  /** @param model what is asked for; the provider as a whole when absent */
  async decide(providerId: string, user: User | undefined, model?: string): Promise<AccessDecision> {
    const provider = await this.ports.providers.find(providerId);
    return provider === undefined ? { allowed: false, reason: 'not-listed' } : decideAccess(provider, user, model);
  }

  /** What the caller may use; for admins also what is switched off. */
  async list(user: User): Promise<readonly PublicProvider[]> {
    const { providers, vault } = this.ports;
    const [all, rows] = await Promise.all([providers.all(), vault.store.ofUser(user.userId)]);
    const credentials = new Map(rows.map((row) => [row._id, row]));
    return all
      .filter((provider) => isVisible(provider, user))
      .map((provider) => toPublicProvider(provider, stateOf(provider, user.userId, credentials)));
  }

  /** @throws LLMPermissionError for a provider that is not there or not for this caller */
  async view(user: User, providerId: string): Promise<PublicProvider> {
    const found = (await this.list(user)).find(({ _id }) => _id === providerId);
    if (found === undefined) throw notAllowed();
    return found;
  }

  /** @throws LLMInvalidRequestError, ConflictError when the id is taken */
  async create(argument: unknown): Promise<Provider> {
    const read = readNewProvider(argument, this.ports.allowInsecure);
    const now = this.ports.clock.now();
    const provider: Provider = { ...read.provider, createdAt: now, updatedAt: now };
    await this.ports.providers.insert(provider);
    await this.keep(provider, read.secrets);
    this.ports.log.info('provider:created', { providerId: provider._id, kind: provider.auth.kind });
    return provider;
  }

  /**
   * Secrets that were given for another address are forgotten. @throws LLMInvalidRequestError, LLMPermissionError,
   * ConflictError
   */
  async update(providerId: string, argument: unknown): Promise<Provider> {
    const { providers, clock, log } = this.ports;
    const current = await this.changeable(providerId);
    const read: ParsedProvider = readProviderChange(argument, current, this.ports.allowInsecure);
    const { createdAt } = current;
    const provider: Provider = { ...read.provider, createdAt, updatedAt: Math.max(clock.now(), current.updatedAt + 1) };
    if (!(await providers.replace(provider, current.updatedAt)))
      throw new ConflictError(`'${current.name}' was changed by another at the same time.`);
    if (destinationHash(provider) !== destinationHash(current)) await this.forget(current);
    await this.keep(provider, read.secrets);
    log.info('provider:updated', { providerId });
    return provider;
  }

  /** With all its credentials. @throws LLMPermissionError when it is not there */
  async remove(providerId: string): Promise<void> {
    const { providers, authorizations, log } = this.ports;
    const provider = await this.changeable(providerId);
    await providers.remove(providerId);
    await authorizations.removeOfProvider(providerId);
    await this.forget(provider);
    log.info('provider:removed', { providerId });
  }

  /** @param key `null` takes it away @throws LLMInvalidRequestError for a provider that has no shared key */
  async setSharedKey(providerId: string, key: string | null): Promise<void> {
    const provider = await this.changeable(providerId);
    if (provider.auth.kind !== 'api_key')
      throw new LLMInvalidRequestError(`'${provider.name}' has no shared key.`, { path: 'providerId' });
    await this.setKey(provider, null, key);
  }

  /**
   * @param key `null` takes it away @throws LLMPermissionError, LLMInvalidRequestError for a provider to which
   * users bring no keys
   */
  async setOwnKey(user: User, providerId: string, key: string | null): Promise<void> {
    const provider = await this.ports.providers.find(providerId);
    if (provider === undefined || !decideAccess(provider, user).allowed) throw notAllowed();
    if (provider.auth.kind !== 'user_api_key')
      throw new LLMInvalidRequestError(`Users bring no keys of their own to '${provider.name}'.`, {
        path: 'providerId',
      });
    await this.setKey(provider, user.userId, key);
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
      throw new LLMInvalidRequestError(`'${provider.name}' comes from the server's settings, and is changed there.`, {
        path: 'providerId',
      });
    return provider;
  }

  private async keep(provider: Provider, { apiKey, clientSecret }: ProviderSecrets): Promise<void> {
    const { vault } = this.ports;
    if (apiKey !== undefined) await vault.put(provider, 'api_key', null, { type: 'api_key', key: apiKey });
    if (clientSecret !== undefined) await vault.put(provider, 'client', null, { type: 'client', secret: clientSecret });
  }

  /** The client's own secret goes last: the others are revoked with it. */
  private async forget(provider: Provider): Promise<void> {
    const { vault, clients } = this.ports;
    const rows = await vault.store.ofProvider(provider._id);
    for (const row of rows.toSorted(
      (left, right) => Number(left.kind === 'client') - Number(right.kind === 'client'),
    )) {
      const taken = await vault.store.take(row);
      const content = taken === undefined ? undefined : vault.contentOf(taken);
      if (content !== undefined && 'oauth' in provider.auth)
        await clients.revoke(provider, provider.auth.oauth, content);
    }
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
  const used =
    provider.auth.kind === 'oauth_app'
      ? ({ providerId: provider._id, userId: null, kind: 'client' } as const)
      : credentialIdFor(provider, userId);
  const row = credentials.get(credentialKey(used));
  if (row === undefined) return { connected: isKeyless(provider), needsReconnect: false };
  const isGood = row.state === 'ready' && row.destination === destinationHash(provider);
  return { connected: isGood, needsReconnect: !isGood };
}

/** The same for what is not there and for what is not theirs. */
function notAllowed(): LLMPermissionError {
  return new LLMPermissionError('There is no such provider, or you may not use it.');
}
