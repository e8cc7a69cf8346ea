/** Opens what all features of a host share: its database, its users and their tokens, and the vendor accounts. */
import { consoleLogger } from '../log/consoleLogger';
import { LLMInvalidRequestError } from '../business/ai/domain/errors/LLMErrors';
import type { AccessPolicy } from '../business/ai/domain/interfaces/AccessPolicy';
import { omitUndefined } from '../business/ai/domain/util/omitUndefined';
import type { AIModule } from '../business/ai/infrastructure/factories/createAIModule';
import type { TopicChanges } from '../business/ai/infrastructure/events/TopicChanges';
import { openSealing } from '../business/privacy/openSealing';
import type { Sealing } from '../business/privacy/openSealing';
import { createProvidersModule } from '../business/providers/infrastructure/factories/createProvidersModule';
import type { ResealedSecrets } from '../business/providers/application/operations/ProviderAdministration';
import { KeyRing } from '../business/providers/infrastructure/sealing/KeyRing';
import { SealingService } from '../business/providers/infrastructure/sealing/SealingService';
import { accountBoundFor, boundsFor } from '../database/bounds/StorageBounds';
import { StorageAccounts } from '../database/bounds/StorageAccounts';
import { createAccessPolicy, dedupeLookups, knownToAny } from './accessPolicy';
import { COLLECTIONS } from './collections';
import type { FeatureHost } from './Feature';
import type { HostPorts, HostSettings } from './HostSettings';
import { createProviderCatalog } from './providerCatalog';
import { StoredProviderSource } from './StoredProviderSource';
import { UsageRecorder } from './UsageRecorder';
import { UserApiTokens } from './UserApiTokens';
import type { ProviderSettings } from '../business/ai/infrastructure/factories/LLMProviderFactory';
import { SYSTEM_OWNER } from '../business/providers/domain/entities/Provider';
import type { Provider } from '../business/providers/domain/entities/Provider';

/** What is composed later, and called once it is there. */
export interface LaterParts {
  readonly aiModule: () => AIModule;
  /** Called after an API token was changed, rotated or revoked. */
  readonly onTokenChanged: (tokenId: string) => void;
  /** What else is sealed with the operator's keys. */
  readonly otherSecrets: () => readonly ResealedSecrets[];
}

export interface OpenedHost {
  readonly host: FeatureHost;
  readonly apiTokens: UserApiTokens;
  readonly sealing: Sealing | undefined;
  readonly providerSource: StoredProviderSource;
  readonly access: AccessPolicy;
  /** The keys of the operator, the newest first. */
  readonly secrets: readonly Buffer[];
}

/** @throws LLMInvalidRequestError for invalid settings; errors of the database */
export async function openHost(
  settings: HostSettings,
  ports: HostPorts,
  changes: TopicChanges,
  { aiModule, onTokenChanged, otherSecrets }: LaterParts,
): Promise<OpenedHost> {
  const { ai, secretKeys, allowPrivateHosts, toolRules = [] } = settings;
  const hasAccounts = ports.hasAccounts === true;
  const homeUrl = settings.rootUrl.replace(/\/+$/, '');
  const rootUrl = homeUrl + checkedPath(settings.httpPath ?? '');
  const ring = KeyRing.parse(secretKeys);
  const sealing = await openSealing(ports.database, COLLECTIONS, ring, settings.sealContent ?? false);
  const database = sealing?.database ?? ports.database;
  const apiTokens = new UserApiTokens(database, onTokenChanged, hasAccounts ? ports.findUser : undefined);
  const { tokens } = apiTokens;
  const findUser = dedupeLookups(hasAccounts ? ports.findUser : knownToAny(ports.findUser, tokens.findUser));
  const accounts = hasAccounts ? findUser : undefined;
  const providers = createProvidersModule(
    { secretKeys, rootUrl, allowPrivateHosts },
    {
      collection: (name) => database.collection(name),
      findUser,
      catalog: createProviderCatalog(aiModule, database, ai.models),
      probe: (providerId, userId) =>
        // Either result is news about the provider's health.
        aiModule()
          .manager.validateAccess(userId, providerId)
          .finally(() => changes.notify('providers')),
      configured: ai.providers.map((provider) => toConfiguredProvider(provider, settings.access ?? 'admins')),
      accounts,
      otherSecrets,
      isAlone: database.isExclusive,
    },
  );
  providers.changes.subscribe(() => changes.notify('providers'));
  await Promise.all([providers.ready(), apiTokens.ready()]);
  const providerSource = new StoredProviderSource(providers, allowPrivateHosts);
  await providerSource.refresh();
  const access = createAccessPolicy(providerSource, findUser, {
    findToken: dedupeLookups((id) => tokens.find(id)),
    toolRules,
    hasAccounts,
  });
  const host: FeatureHost = {
    ...{ settings, ports, database, collections: COLLECTIONS, findUser, accounts, tokens, providers, homeUrl, rootUrl },
    findNames: ports.findNames ?? (() => Promise.resolve(new Map())),
    searchUsers: ports.searchUsers ?? (() => Promise.resolve([])),
    bounds: boundsFor(database, settings.storage ?? {}),
    storage: new StorageAccounts(database, COLLECTIONS, accountBoundFor(database, settings.storage ?? {})),
    logger: consoleLogger,
    notify: changes.notify,
    tokenUsage: new UsageRecorder((used) => providers.recordUsage(used)),
    contentKeys: sealing?.keys,
    sealer: new SealingService(ring),
    aiModule,
  };
  return { host, apiTokens, sealing, providerSource, access, secrets: ring.keys.map(({ bytes }) => bytes) };
}

/** @throws LLMInvalidRequestError */
function checkedPath(path: string): string {
  if (path === '' || /^(?:\/[\w.-]+)+$/.test(path)) return path;
  throw new LLMInvalidRequestError(`httpPath must be empty or a path like "/ai", but is "${path}".`, {
    path: 'httpPath',
  });
}

/** A vendor of the settings in the form that access rules and lists use. Its key is not copied. */
function toConfiguredProvider(
  { id, vendor, baseURL, deployment, defaultModel, allowedModels, hostedTools }: ProviderSettings,
  access: 'admins' | 'everyone',
): Provider {
  return omitUndefined({
    _id: id,
    name: id,
    vendor,
    auth: { kind: 'api_key' },
    owner: SYSTEM_OWNER,
    access: { kind: access },
    enabled: true,
    createdAt: 0,
    updatedAt: 0,
    baseURL,
    deployment,
    defaultModel,
    allowedModels,
    hostedTools,
  });
}
