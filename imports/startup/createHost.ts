/** Wires everything that a host serves, in the same way for Meteor and plain Node. */
import type express from 'express';
import { createHttpApi } from '../api/createHttpApi';
import type { HostOperations } from '../api/HostOperations';
import type { HttpApi, HttpApiPorts } from '../api/createHttpApi';
import type { DashboardPagePorts } from '../api/dashboard/dashboardPages';
import { AuthFailureLimiter } from '../api/auth/AuthFailureLimiter';
import type { AuthFailureLimits } from '../api/auth/AuthFailureLimiter';
import { ChatStore, CHATS } from '../api/chat/ChatStore';
import { createOAuthRoutes } from '../api/oauth/oauthRoutes';
import { createModelOperations } from '../business/ai/application/operations/ModelOperations';
import { createRunListOperations } from '../business/ai/application/operations/RunListOperations';
import { createPromptOperations } from '../business/ai/application/operations/PromptOperations';
import { createInboxOperations } from '../business/ai/application/operations/InboxOperations';
import { ACCOUNT_OPERATIONS } from '../api/users/accountRoutes';
import { createTokenOperations } from '../api/tokens/TokenOperations';
import { createBudgetOperations } from '../business/ai/application/operations/BudgetOperations';
import { createRoutingOperations } from '../business/ai/application/operations/RoutingOperations';
import { createQueueOperations } from '../business/ai/application/operations/QueueOperations';
import { createRunExportOperations } from '../business/ai/application/operations/RunExportOperations';
import { createUsageOperations } from '../business/ai/application/operations/UsageOperations';
import { createUserDataOperations } from '../business/ai/application/operations/UserDataOperations';
import { TopicChanges } from '../business/ai/infrastructure/events/TopicChanges';
import { createAIModule } from '../business/ai/infrastructure/factories/createAIModule';
import type { AIModule, AIModulePorts, AISettings } from '../business/ai/infrastructure/factories/createAIModule';
import { createRequestLog } from '../business/ai/infrastructure/factories/createRequestLog';
import type { RequestLogModule, RequestLogSettings } from '../business/ai/infrastructure/factories/createRequestLog';
import { createRunModule } from '../business/ai/infrastructure/factories/createRunOperations';
import type { CallLimits, RunModule } from '../business/ai/infrastructure/factories/createRunOperations';
import type { ProviderSettings } from '../business/ai/infrastructure/factories/LLMProviderFactory';
import type { DocumentDatabase } from '../business/ai/infrastructure/persistence/databases/DocumentDatabase';
import type { Guardrail } from '../business/ai/domain/interfaces/Guardrail';
import { consoleLogger } from '../business/ai/domain/consoleLogger';
import {
  BUDGET_LIMITS,
  DocumentBudgetLimits,
} from '../business/ai/infrastructure/persistence/budgets/DocumentBudgetLimits';
import { BUDGETS, DocumentBudgetStore } from '../business/ai/infrastructure/persistence/budgets/DocumentBudgetStore';
import { DocumentRateStore, TOKEN_RATES } from '../business/ai/infrastructure/persistence/rateLimits/DocumentRateStore';
import {
  DocumentConversationStore,
  MESSAGES,
} from '../business/ai/infrastructure/persistence/conversations/DocumentConversationStore';
import { openPromptStore } from '../business/ai/infrastructure/persistence/prompts/DocumentPromptStore';
import { DocumentUsageReports } from '../business/ai/infrastructure/persistence/usage/DocumentUsageReports';
import { DocumentInbox } from '../business/ai/infrastructure/persistence/inbox/DocumentInbox';
import { openResponseCache } from '../business/ai/infrastructure/persistence/cache/DocumentResponseCache';
import { openResponseConversations } from '../business/ai/infrastructure/persistence/responses/DocumentResponseConversations';
import { openResponseEvents } from '../business/ai/infrastructure/persistence/responses/DocumentResponseEvents';
import {
  DocumentRoutingRules,
  ROUTING_RULES,
} from '../business/ai/infrastructure/persistence/routing/DocumentRoutingRules';
import { openResponseStore } from '../business/ai/infrastructure/persistence/responses/DocumentResponseStore';
import { openRunStore } from '../business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { DocumentQueuedRuns } from '../business/ai/infrastructure/persistence/runs/DocumentQueuedRuns';
import { RUNS } from '../business/ai/infrastructure/persistence/runs/runDocuments';
import { RunRetention } from '../business/ai/infrastructure/persistence/runs/RunRetention';
import { DocumentRunList } from '../business/ai/infrastructure/persistence/runs/DocumentRunList';
import { DocumentRunViews } from '../business/ai/infrastructure/persistence/runs/DocumentRunViews';
import { openVendorObjects } from '../business/ai/infrastructure/persistence/vendorObjects/DocumentVendorObjects';
import { VENDOR_ROWS } from '../business/ai/infrastructure/vendors/vendors';
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
import { createProviderCatalog } from './providerCatalog';
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
  /** Exact origins whose pages may call the API with a token. Default: none. */
  readonly corsOrigins?: readonly string[];
  /** How many requests with invalid tokens are answered in a minute. */
  readonly authFailures?: Partial<AuthFailureLimits>;
  /** How many proxies in front of the server append to `x-forwarded-for`. Default: 0. */
  readonly forwardedCount?: number;
  /** How queued runs are processed, and how long runs are retained. */
  readonly jobs?: JobSettings;
  /** Check every model call, before those of the ports. Default: none. */
  readonly guardrails?: readonly Guardrail[];
  /** Whether requests may be answered from cached responses, if they ask for it. Default: true. */
  readonly responseCache?: boolean;
  /** The log of model calls. */
  readonly requestLog?: RequestLogSettings;
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
  /** Everything that people read and do, by name: methods in Meteor, routes over HTTP. */
  readonly operations: HostOperations;
  /** Notifies open pages of what has changed. */
  readonly changes: TopicChanges;
  /** Deletes everything that is stored about a user: see `UserDataDeletion`. For apps that delete an account. */
  readonly deleteUserData: UserDataDeletion['deleteUserData'];
  /** Writes the log of model calls in the background. */
  readonly requestLog: Pick<RequestLogModule, 'flush'>;
  /** Completes the requests in progress, then closes everything, the database last. */
  close(): Promise<void>;
}

/** Entries of the request log in the export of a run. */
const MAX_EXPORTED_REQUESTS = 1_000;

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
    requestLog: requestLogSettings = {},
    responseCache = true,
    guardrails = [],
    shutdownGraceMs,
    maxBodyBytes,
    corsOrigins = [],
    authFailures: authFailureLimits = {},
    forwardedCount = 0,
  }: HostSettings,
  ports: HostPorts,
): Promise<Host> {
  const { express, database, dashboard } = ports;
  const rootUrl = appUrl.replace(/\/+$/, '') + checkedPath(httpPath);
  const { keys } = KeyRing.parse(secretKeys);
  const apiTokens = new UserApiTokens(
    database,
    (id) => {
      module.apiTokens?.policy.forget(id);
      void api.checkToken(id);
    },
    ports.hasAccounts === true ? ports.findUser : undefined,
  );
  const authenticate: HostPorts['authenticate'] = async (request) =>
    (await ports.authenticate(request)) ?? apiTokens.authenticate(request);
  const authFailures = new AuthFailureLimiter({ limits: authFailureLimits, forwardedCount });
  const findUser = dedupeLookups(
    ports.hasAccounts === true
      ? ports.findUser
      : async (userId) => (await ports.findUser(userId)) ?? apiTokens.tokens.findUser(userId),
  );
  const accounts = ports.hasAccounts === true ? { findUser } : {};
  const providers = createProvidersModule(
    { secretKeys, rootUrl, allowPrivateHosts },
    {
      collection: (name) => database.collection(name),
      findUser,
      catalog: createProviderCatalog(() => module, database),
      probe: (providerId, userId) =>
        // Either result is news about the provider's health.
        module.manager.validateAccess(userId, providerId).finally(() => changes.notify('providers')),
      configured: ai.providers.map((provider) => toConfiguredProvider(provider, configuredAccess)),
      isAlone: database.isExclusive,
    },
  );
  const changes = new TopicChanges();
  providers.changes.subscribe(() => changes.notify('providers'));
  const chats = new ChatStore(database.collection(CHATS));
  await Promise.all([providers.ready(), apiTokens.ready(), chats.ready()]);
  const storedProviders = new StoredProviderSource(providers, allowPrivateHosts);
  await storedProviders.refresh();
  const memory = new DocumentConversationStore(database.collection(MESSAGES));
  const [responses, conversations, responseEvents, vendorObjects, prompts] = await Promise.all([
    openResponseStore(database),
    openResponseConversations(database),
    openResponseEvents(database),
    openVendorObjects(database),
    openPromptStore(database),
    memory.ready(),
  ]);
  const budgets = new DocumentBudgetStore(database.collection(BUDGETS));
  await budgets.ready();
  const budgetLimits = new DocumentBudgetLimits(database.collection(BUDGET_LIMITS));
  const routingRules = new DocumentRoutingRules(database.collection(ROUTING_RULES));
  const tokenBudgets = new DocumentBudgetStore(database.collection(BUDGETS), 'token');
  const teamBudgets = new DocumentBudgetStore(database.collection(BUDGETS), 'team');
  const teamLimits = new DocumentBudgetLimits(database.collection(BUDGET_LIMITS), 'team');
  const rates = new DocumentRateStore(database.collection(TOKEN_RATES));
  await rates.ready();
  const access = createAccessPolicy(storedProviders, findUser);
  const usage = new UsageRecorder((used) => providers.recordUsage(used));
  const inbox = new DocumentInbox(database);
  const jobQueue = await openJobQueue(jobs, database);
  const runStore = await openRunStore(database);
  const requestLog = createRequestLog(requestLogSettings, {
    database,
    onStored: (userId) => changes.notify('requests', userId),
  });
  await requestLog.ready();
  const module = createAIModule(ai, {
    ...(requestLog.log === undefined ? {} : { requestLog: requestLog.log }),
    budgets,
    budgetLimits,
    routingRules,
    apiTokens: {
      tokens: { find: (id) => apiTokens.tokens.find(id) },
      budgets: tokenBudgets,
      rates,
      teamBudgets,
      teamLimits,
    },
    responses,
    memory,
    responseCache: responseCache && (await openResponseCache(database)),
    ...ports.ai,
    guardrails: [...guardrails, ...(ports.ai?.guardrails ?? [])],
    runs: runStore,
    jobs: jobQueue,
    providerSource: storedProviders,
    credentials: providers.credentials,
    access,
    onUsage: (used) => usage.record(used),
    onFollowed: (executionId) => inbox.markHandled(executionId),
    onStateStored: (userId) => {
      changes.notify('runs', userId);
      changes.notify('calls', userId);
    },
  });
  const collection = database.collection.bind(database);
  const runs = createRunModule(module, { collection, views: new DocumentRunViews(database), limits: callLimits });
  const runList = new DocumentRunList(database);
  await Promise.all([runs.ready(), runList.ready()]);
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
    requestLog,
    documents: new UserDocuments(database, module.jobs),
  });
  const reports = new DocumentUsageReports(database);
  // The operations of each area. Its interface is added to `HostOperations`, its routes to `OPERATION_ROUTES`.
  const operations: HostOperations = {
    ...runs.methods,
    ...createRunExportOperations({
      runs: runStore,
      requestsOf: (executionId) => requestLog.requests.ofRun(executionId, MAX_EXPORTED_REQUESTS),
    }),
    ...requestLog.operations,
    'ai.tools.list': (actor) => runs.queries.tools(actor),
    ...createRunListOperations({
      list: runList,
      queries: runs.queries,
      ownerOf: runs.ownerOf,
      onChange: (ownerId) => changes.notify('runs', ownerId),
    }),
    ...createInboxOperations({
      inbox,
      ownerOf: runs.ownerOf,
      onDismissed: (_executionId, ownerId) => changes.notify('runs', ownerId),
    }),
    ...createUserDataOperations(deletion),
    ...createUsageOperations({ usage: reports }),
    ...createModelOperations({ providers: module.providers, access, vendorModels: (vendor) => VENDOR_ROWS[vendor] }),
    ...createPromptOperations(prompts, (userId) => changes.notify('prompts', userId)),
    ...ACCOUNT_OPERATIONS,
    ...createTokenOperations({
      tokens: apiTokens.tokens,
      accounts: tokenBudgets,
      usageSettled: module.usageSettled,
      usage: reports,
      logger: consoleLogger,
      onChange: (userId) => changes.notify('tokens', userId),
      ...accounts,
    }),
    ...createBudgetOperations({
      policy: module.budgetPolicy,
      limits: budgetLimits,
      accounts: budgets,
      usageSettled: module.usageSettled,
      ...(module.apiTokens === undefined
        ? {}
        : { teams: { policy: module.apiTokens.teamPolicy, limits: teamLimits, accounts: teamBudgets } }),
      onChange: (userId) => changes.notify('budgets', userId),
      logger: consoleLogger,
      ...accounts,
    }),
    ...createRoutingOperations({
      routing: module.routing,
      store: routingRules,
      providers: module.providers,
      health: () => module.manager.health(),
      onChange: () => changes.notify('routing'),
      logger: consoleLogger,
    }),
    ...createQueueOperations({
      jobs: jobQueue,
      runs: new DocumentQueuedRuns(database.collection(RUNS)),
      ownerOf: runs.ownerOf,
      runNow: (executionId) => module.queue.runNow(executionId),
      onChange: () => changes.notify('queue'),
      logger: consoleLogger,
    }),
  };
  const api = createHttpApi(module, {
    express,
    authenticate,
    authFailures,
    isTokenValid: (tokenId) => apiTokens.tokens.isValid(tokenId),
    access,
    secrets: keys.map(({ bytes }) => bytes),
    operations,
    changes,
    conversations,
    responseEvents,
    vendorObjects,
    ...accounts,
    ...(requestLog.log === undefined ? {} : { requestLog: requestLog.log }),
    isAlone: database.isExclusive,
    limits: {
      ...(shutdownGraceMs === undefined ? {} : { shutdownGrace: shutdownGraceMs }),
      ...(maxBodyBytes === undefined ? {} : { maxBodyBytes }),
    },
    oauth: createOAuthRoutes({
      express,
      flow: providers.flow,
      authenticate: authFailures.limit(authenticate),
      homeUrl: appUrl,
    }),
    corsOrigins,
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
    operations,
    changes,
    deleteUserData: deletion.deleteUserData,
    requestLog,
    async close() {
      await api.close();
      await module.close();
      await retention.stop();
      await runs.close();
      await usage.settled();
      await apiTokens.tokens.settled();
      await requestLog.flush();
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
