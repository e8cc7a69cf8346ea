/** Wires the provider system, in the same way for every host. */
import type { AccessCheck } from '../../../ai/domain/interfaces/ILLMProvider';
import type { CredentialSource } from '../../../ai/domain/interfaces/CredentialSource';
import type { DocumentCollection, StoredDocument } from '../../../../database/DocumentCollection';
import { DEFAULT_TRANSPORT_LIMITS } from '../../../ai/domain/types/VendorTypes';
import { permitsHost } from '../../../ai/infrastructure/clients/http/privateHosts';
import type { PrivateHosts } from '../../../ai/infrastructure/clients/http/privateHosts';
import { createGuardedFetch } from '../../../ai/infrastructure/clients/http/guardedFetch';
import { ChangeSignal } from '../../application/operations/ChangeSignal';
import { CredentialVault } from '../../application/credentials/CredentialVault';
import type { LeaseDurations } from '../../application/tokens/RefreshLeaseMonitor';
import { OAuthClients } from '../../application/oauth/OAuthClients';
import type { AuthorizationServers } from '../../application/oauth/OAuthClients';
import { DelegatedOAuthFlow } from '../../application/oauth/DelegatedOAuthFlow';
import type { DelegatedServers } from '../../application/oauth/DelegatedOAuthFlow';
import { OAuthFlow } from '../../application/oauth/OAuthFlow';
import { ProviderAdministration } from '../../application/operations/ProviderAdministration';
import type {
  ProviderAdministrationPorts,
  ProviderCatalogPort,
} from '../../application/operations/ProviderAdministration';
import { ProviderService } from '../../application/accounts/ProviderService';
import { TokenRefresher } from '../../application/tokens/TokenRefresher';
import { TokenService } from '../../application/tokens/TokenService';
import { UsageLimits } from '../../application/UsageLimits';
import { withConfiguredProviders } from '../../application/accounts/withConfiguredProviders';
import type { Provider } from '../../domain/entities/Provider';
import type { Clock } from '../../domain/interfaces/Clock';
import type { EventLog } from '../../domain/interfaces/EventLog';
import type { UserLookup } from '../../../ai/domain/types/Actor';
import { consoleLog } from '../system/redactingLog';
import { KeyExchangeServer } from '../oauth/KeyExchangeServer';
import { OAuth2Server } from '../oauth/OAuth2Server';
import { ServerMetadataCache } from '../oauth/ServerMetadataCache';
import { createAuthorizationStore, indexAuthorizations } from '../persistence/createAuthorizationStore';
import type { AuthorizationDocument } from '../persistence/createAuthorizationStore';
import { createChangeCounter } from '../persistence/createChangeCounter';
import type { ChangeDocument } from '../persistence/createChangeCounter';
import { createCredentialStore, indexCredentials } from '../persistence/createCredentialStore';
import type { CredentialDocument } from '../persistence/createCredentialStore';
import { createProviderStore } from '../persistence/createProviderStore';
import type { ProviderDocument } from '../persistence/createProviderStore';
import { createUsageStore, indexUsage } from '../persistence/createUsageStore';
import type { UsageDocument } from '../persistence/createUsageStore';
import { KeyRing } from '../sealing/KeyRing';
import { SealingService } from '../sealing/SealingService';
import { systemClock } from '../system/systemClock';

export interface ProvidersSettings {
  /** Sealing keys as `id:base64,…`: the first seals, all open. */
  readonly secretKeys: string;
  /** Where browsers reach this app. */
  readonly rootUrl: string;
  /** Permits plain http and private addresses for authorization servers and vendors: for development and tests only. */
  readonly allowPrivateHosts?: PrivateHosts;
  /** In milliseconds; see `LeaseLengths`. */
  readonly refreshLeases?: LeaseDurations;
}

/** What the host provides. */
export interface ProvidersPorts extends Pick<ProviderAdministrationPorts, 'accounts' | 'otherSecrets'> {
  readonly collection: <T extends StoredDocument>(name: string) => DocumentCollection<T>;
  readonly findUser: UserLookup;
  /** See `ProviderAdministrationPorts`. */
  readonly probe: (providerId: string, userId: string) => Promise<AccessCheck>;
  /** Default: no vendors, models and calls are known. */
  readonly catalog?: ProviderCatalogPort;
  /** Providers defined in the host's settings, which also hold their keys. */
  readonly configured?: readonly Provider[];
  /** No other process shares the stores. */
  readonly isAlone?: boolean;
  readonly log?: EventLog;
  readonly clock?: Clock;
  /** Replaces the implementations of the protocols. */
  readonly servers?: AuthorizationServers;
}

export interface ProvidersModule {
  /** The only port through which the AI module uses the provider system. */
  readonly credentials: CredentialSource & { boundTo(row: Provider): CredentialSource };
  readonly service: ProviderService;
  readonly flow: OAuthFlow;
  /** A flow for accounts at servers of another kind. @param startPath of its page, with `:id` */
  createFlow(servers: DelegatedServers, startPath: string): DelegatedOAuthFlow;
  /** Carries out `ai.providers.*`. */
  readonly administration: ProviderAdministration;
  /**
   * Counts the tokens of a response towards the provider's limits.
   * @returns undefined if nothing has to be counted
   */
  recordUsage(usage: {
    readonly providerId: string;
    readonly userId: string;
    readonly tokens: number;
  }): Promise<void> | undefined;
  /** Forgets how much a user has used. @returns the number of windows */
  removeUsage(userId: string): Promise<number>;
  readonly changes: ChangeSignal;
  readonly findUser: UserLookup;
  /** Creates the stores' indexes. Idempotent. */
  ready(): Promise<void>;
  /** Closes the sockets to authorization servers. */
  close(): void;
}

export const COLLECTIONS = {
  providers: 'ai_providers',
  credentials: 'ai_credentials',
  authorizations: 'ai_authorizations',
  usage: 'ai_provider_usage',
  changes: 'ai_changes',
} as const;

const EMPTY_CATALOG: ProviderCatalogPort = {
  vendors: () => [],
  knownModels: () => [],
  describeModel: (_vendor, id) => ({ id }),
  listModels: () => Promise.resolve([]),
  health: () => Promise.resolve(new Map()),
  unfinishedRuns: () => Promise.resolve(0),
};

/** @throws LLMInvalidRequestError for invalid sealing keys or an invalid root URL */
export function createProvidersModule(settings: ProvidersSettings, ports: ProvidersPorts): ProvidersModule {
  const { rootUrl, allowPrivateHosts = false } = settings;
  const allowInsecure = ({ hostname }: URL): boolean => permitsHost(allowPrivateHosts, hostname);
  const {
    collection,
    findUser,
    probe,
    accounts,
    otherSecrets,
    catalog = EMPTY_CATALOG,
    configured = [],
    isAlone = false,
    log = consoleLog,
    clock = systemClock,
  } = ports;
  const collections = {
    providers: collection<ProviderDocument>(COLLECTIONS.providers),
    credentials: collection<CredentialDocument>(COLLECTIONS.credentials),
    authorizations: collection<AuthorizationDocument>(COLLECTIONS.authorizations),
    usage: collection<UsageDocument>(COLLECTIONS.usage),
  };
  const changes = new ChangeSignal({
    log,
    ...(isAlone ? {} : { announce: createChangeCounter(collection<ChangeDocument>(COLLECTIONS.changes)) }),
  });
  const sealer = new SealingService(KeyRing.parse(settings.secretKeys));
  const providers = withConfiguredProviders(
    changes.watchProviders(createProviderStore(collections.providers)),
    configured,
  );
  const authorizations = createAuthorizationStore(collections.authorizations);
  const vault = new CredentialVault({
    store: changes.watchCredentials(createCredentialStore(collections.credentials, clock)),
    sealer,
    log,
  });
  const fetch = createGuardedFetch({ limits: DEFAULT_TRANSPORT_LIMITS, allowPrivateHosts });
  const servers = ports.servers ?? {
    oauth2: new OAuth2Server({
      fetch,
      metadata: new ServerMetadataCache({ fetch, clock, allowInsecure }),
    }),
    key_exchange: new KeyExchangeServer(fetch),
  };
  const clients = new OAuthClients(servers, vault, log);
  const usage = createUsageStore(collections.usage, clock);
  const limits = new UsageLimits(usage);
  /** The providers of the settings whose tokens are not limited. */
  const unlimited = new Set(configured.filter((each) => each.limits?.tokens === undefined).map(({ _id }) => _id));
  const leases = settings.refreshLeases === undefined ? {} : { leases: settings.refreshLeases };
  const refresher = new TokenRefresher({ vault, clock, log, ...leases });
  const flow = new OAuthFlow({ providers, authorizations, vault, clients, sealer, findUser, clock, log, rootUrl });
  const service = new ProviderService({ providers, authorizations, vault, clients, clock, log, allowInsecure });
  return {
    credentials: new TokenService({ providers, vault, clients, refresher, limits, findUser }),
    service,
    flow,
    createFlow: (of, startPath) =>
      new DelegatedOAuthFlow({ servers: of, authorizations, sealer, findUser, clock, log, rootUrl, startPath }),
    administration: new ProviderAdministration({ service, flow, vault, probe, catalog, accounts, otherSecrets }),
    recordUsage({ providerId, userId, tokens }) {
      if (unlimited.has(providerId)) return undefined;
      return providers.find(providerId).then((provider) => provider && limits.recordTokens(provider, userId, tokens));
    },
    removeUsage: (userId) => usage.removeUser(userId),
    changes,
    findUser,
    async ready() {
      await Promise.all([
        indexCredentials(collections.credentials),
        indexAuthorizations(collections.authorizations),
        indexUsage(collections.usage),
      ]);
    },
    close: () => fetch.close(),
  };
}
