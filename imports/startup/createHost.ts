/** Wires everything that a host serves, in the same way for Meteor and plain Node. */
import type express from 'express';
import { createHttpApi } from '../api/createHttpApi';
import type { HttpApi, HttpApiPorts } from '../api/createHttpApi';
import type { DashboardPagePorts } from '../api/dashboard/dashboardPages';
import { ChatStore, CHATS } from '../api/chat/ChatStore';
import { createOAuthRoutes } from '../api/oauth/oauthRoutes';
import { createUserDataOperations } from '../business/ai/application/operations/UserDataOperations';
import type { UserDataOperations } from '../business/ai/application/operations/UserDataOperations';
import { createAIModule } from '../business/ai/infrastructure/factories/createAIModule';
import type { AIModule, AIModulePorts, AISettings } from '../business/ai/infrastructure/factories/createAIModule';
import { createRunModule } from '../business/ai/infrastructure/factories/createRunOperations';
import type { CallLimits, RunModule } from '../business/ai/infrastructure/factories/createRunOperations';
import type { ProviderSettings } from '../business/ai/infrastructure/factories/LLMProviderFactory';
import type { DocumentDatabase } from '../business/ai/infrastructure/persistence/databases/DocumentDatabase';
import { BUDGETS, DocumentBudgetStore } from '../business/ai/infrastructure/persistence/budgets/DocumentBudgetStore';
import {
  DocumentConversationStore,
  MESSAGES,
} from '../business/ai/infrastructure/persistence/conversations/DocumentConversationStore';
import { openResponseStore } from '../business/ai/infrastructure/persistence/responses/DocumentResponseStore';
import { openRunStore } from '../business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { RunRetention } from '../business/ai/infrastructure/persistence/runs/RunRetention';
import { DocumentRunViews } from '../business/ai/infrastructure/persistence/runs/DocumentRunViews';
import { openVendorObjects } from '../business/ai/infrastructure/persistence/vendorObjects/DocumentVendorObjects';
import { UserDocuments } from '../business/ai/infrastructure/persistence/users/UserDocuments';
import { SYSTEM_OWNER } from '../business/providers/domain/entities/Provider';
import type { Provider } from '../business/providers/domain/entities/Provider';
import { LLMInvalidRequestError } from '../business/ai/domain/errors/LLMErrors';
import type { UserLookup } from '../business/ai/domain/types/Actor';
import { createProvidersModule } from '../business/providers/infrastructure/factories/createProvidersModule';
import type { ProvidersModule } from '../business/providers/infrastructure/factories/createProvidersModule';
import { KeyRing } from '../business/providers/infrastructure/sealing/KeyRing';
import { UserApiTokens } from './UserApiTokens';
import { UserDataDeletion } from './UserDataDeletion';
import { createAccessPolicy, dedupeLookups } from './accessPolicy';
import { openJobQueue } from './settings/jobs';
import type { JobSettings } from './settings/jobs';
import { StoredProviderSource } from './StoredProviderSource';
import { UsageRecorder } from './UsageRecorder';

export interface HostSettings {
  readonly ai: AISettings;
  /** Who may use the vendors of `ai`. Default: admins. */
  readonly access?: 'admins' | 'everyone';
  /** Sealing keys as `id:base64,…`: the first seals, all open. */
  readonly secretKeys: string;
  /** Where browsers reach this app. */
  readonly rootUrl: string;
  /** Permits http and private addresses for vendors and authorization servers that admins enter: for development. */
  readonly allowPrivateHosts: boolean;
  /** Where the API is mounted below the root URL: '' or a path like `/ai`. Default: ''. */
  readonly httpPath?: string;
  /** Calls per user and minute. */
  readonly callLimits?: Partial<CallLimits>;
  /** Milliseconds that `close` waits for HTTP requests in progress. Default: 30,000. */
  readonly shutdownGraceMs?: number;
  /** The largest HTTP body and WebSocket message. Default: 32 MiB. */
  readonly maxBodyBytes?: number;
  /** How queued runs are processed, and how long runs are retained. */
  readonly jobs?: JobSettings;
}

export interface HostPorts {
  readonly express: typeof express;
  readonly database: DocumentDatabase;
  /** Authenticates a request. Users' API tokens are accepted as well. */
  readonly authenticate: HttpApiPorts['authenticate'];
  /** Looks up a user for the access rules. */
  readonly findUser: UserLookup;
  /** `findUser` knows every user. Otherwise, owners of API tokens count as users, too. */
  readonly hasAccounts?: true;
  readonly ai?: Omit<AIModulePorts, 'access' | 'credentials' | 'providerSource' | 'onUsage'>;
  /** The app serves pages of its own; see `HttpApiPorts.servesPages`. */
  readonly servesPages?: true;
  /** Enables the dashboard's page over HTTP, with its files and its session. A host with DDP does not need it. */
  readonly dashboard?: DashboardPagePorts;
}

export interface Host {
  readonly apiTokens: UserApiTokens;
  readonly module: AIModule;
  readonly providers: ProvidersModule;
  readonly runs: RunModule;
  readonly api: HttpApi;
  readonly userData: UserDataOperations;
  /** Deletes everything that is stored about a user: see `UserDataDeletion`. For apps that delete an account. */
  readonly deleteUserData: UserDataDeletion['deleteUserData'];
  /** Completes the requests in progress, then closes everything, the database last. */
  close(): Promise<void>;
}

/** @throws LLMInvalidRequestError for invalid settings; errors of the database */
export async function createHost(
  {
    ai,
    access: configuredAccess = 'admins',
    secretKeys,
    rootUrl: appUrl,
    httpPath = '',
    allowPrivateHosts,
    callLimits = {},
    jobs = {},
    shutdownGraceMs,
    maxBodyBytes,
  }: HostSettings,
  ports: HostPorts,
): Promise<Host> {
  const { express, database, dashboard } = ports;
  const rootUrl = appUrl.replace(/\/+$/, '') + checkedPath(httpPath);
  const { keys } = KeyRing.parse(secretKeys);
  const apiTokens = new UserApiTokens(database, ports.hasAccounts === true ? ports.findUser : undefined);
  const authenticate: HostPorts['authenticate'] = async (request) =>
    (await ports.authenticate(request)) ?? apiTokens.authenticate(request);
  const findUser = dedupeLookups(
    ports.hasAccounts === true
      ? ports.findUser
      : async (userId) => (await ports.findUser(userId)) ?? apiTokens.tokens.findUser(userId),
  );
  const providers = createProvidersModule(
    { secretKeys, rootUrl, allowPrivateHosts },
    {
      collection: (name) => database.collection(name),
      findUser,
      probe: (providerId, userId) => module.manager.validateAccess(userId, providerId),
      configured: ai.providers.map((provider) => toConfiguredProvider(provider, configuredAccess)),
      isAlone: database.isExclusive,
    },
  );
  const chats = new ChatStore(database.collection(CHATS));
  await Promise.all([providers.ready(), apiTokens.ready(), chats.ready()]);
  const storedProviders = new StoredProviderSource(providers, allowPrivateHosts);
  await storedProviders.refresh();
  const memory = new DocumentConversationStore(database.collection(MESSAGES));
  const [responses, vendorObjects] = await Promise.all([
    openResponseStore(database),
    openVendorObjects(database),
    memory.ready(),
  ]);
  const budgets = new DocumentBudgetStore(database.collection(BUDGETS));
  await budgets.ready();
  const access = createAccessPolicy(storedProviders, findUser);
  const usage = new UsageRecorder((used) => providers.recordUsage(used));
  const module = createAIModule(ai, {
    budgets,
    responses,
    memory,
    ...ports.ai,
    runs: await openRunStore(database),
    jobs: await openJobQueue(jobs, database),
    providerSource: storedProviders,
    credentials: providers.credentials,
    access,
    onUsage: (used) => usage.record(used),
  });
  const collection = database.collection.bind(database);
  const runs = createRunModule(module, { collection, views: new DocumentRunViews(database), limits: callLimits });
  await runs.ready();
  const retention = new RunRetention(database, jobs.retention === undefined ? {} : { times: jobs.retention });
  await retention.ready();
  await module.recovery.start();
  await module.queue.start();
  retention.start();
  const deletion = new UserDataDeletion({
    module,
    runs,
    providers,
    apiTokens,
    chats,
    api: { cancelUser: (userId) => api.cancelUser(userId) },
    usage,
    documents: new UserDocuments(database, module.jobs),
  });
  const userData = createUserDataOperations(deletion);
  const api = createHttpApi(module, {
    express,
    authenticate,
    access,
    secrets: keys.map(({ bytes }) => bytes),
    tokens: apiTokens.tokens,
    userData,
    vendorObjects,
    ...(ports.hasAccounts === true ? { findUser } : {}),
    isAlone: database.isExclusive,
    limits: {
      ...(shutdownGraceMs === undefined ? {} : { shutdownGrace: shutdownGraceMs }),
      ...(maxBodyBytes === undefined ? {} : { maxBodyBytes }),
    },
    oauth: createOAuthRoutes({ express, flow: providers.flow, authenticate, homeUrl: appUrl }),
    runs,
    chats,
    providers: providers.operations,
    servesPages: ports.servesPages ?? false,
    // A proxy may or may not strip the root URL's path.
    basePaths: [httpPath, new URL(rootUrl).pathname.replace(/\/+$/, '')],
    ...(dashboard === undefined ? {} : { dashboard }),
  });
  return {
    apiTokens,
    module,
    providers,
    runs,
    api,
    userData,
    deleteUserData: deletion.deleteUserData,
    async close() {
      await api.close();
      await module.close();
      await retention.stop();
      await runs.close();
      await usage.settled();
      providers.close();
      await database.close();
    },
  };
}

/** A vendor of the settings in the form that access rules and lists use. Its key is not copied. */
function toConfiguredProvider(
  { id, vendor, baseURL, deployment, defaultModel, allowedModels }: ProviderSettings,
  access: 'admins' | 'everyone',
): Provider {
  return {
    _id: id,
    name: id,
    vendor,
    auth: { kind: 'api_key' },
    owner: SYSTEM_OWNER,
    access: { kind: access },
    enabled: true,
    createdAt: 0,
    updatedAt: 0,
    ...(baseURL === undefined ? {} : { baseURL }),
    ...(deployment === undefined ? {} : { deployment }),
    ...(defaultModel === undefined ? {} : { defaultModel }),
    ...(allowedModels === undefined ? {} : { allowedModels }),
  };
}

/** @throws LLMInvalidRequestError */
function checkedPath(path: string): string {
  if (path === '' || /^(?:\/[\w.-]+)+$/.test(path)) return path;
  throw new LLMInvalidRequestError(`httpPath must be empty or a path like "/ai", but is "${path}".`, {
    path: 'httpPath',
  });
}
