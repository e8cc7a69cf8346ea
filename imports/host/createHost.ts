/** Wires everything that a host serves, in the same way for Meteor and plain Node. */
import { createRouter } from '../api/http/createRouter';
import type { RouterFactory } from '../api/http/createRouter';
import { createHttpApi } from '../api/createHttpApi';
import type { DefinedOperations } from './operations';
import type { HttpApi, HttpApiPorts } from '../api/createHttpApi';
import type { McpAccess } from '../business/mcp/api/addMcpRoutes';
import { importMcpServer } from '../business/mcp/api/importMcpServer';
import type { DashboardPagePorts } from '../api/dashboard/dashboardPages';
import { SESSIONS, SessionStore } from '../api/dashboard/SessionStore';
import { AuthFailureLimiter } from '../api/auth/AuthFailureLimiter';
import type { AuthFailureLimits } from '../api/auth/AuthFailureLimiter';
import { IDENTITIES, IdentityStore } from '../api/signIn/Identities';
import { SIGN_IN_STATES, UsedStates } from '../api/signIn/UsedStates';
import { ChatStore, CHATS } from '../api/chat/ChatStore';
import { MCP_SIGN_IN_PAGES } from '../business/mcp/api/mcpSignInPages';
import { createOAuthRoutes } from '../api/oauth/oauthRoutes';
import { UserLimiter } from '../business/limits/application/UserLimiter';
import type { AuditTrail } from '../business/audit/application/AuditTrail';
import { TopicChanges } from '../business/ai/infrastructure/events/TopicChanges';
import { createAIModule } from '../business/ai/infrastructure/factories/createAIModule';
import type { AIModule, AIModulePorts, AISettings } from '../business/ai/infrastructure/factories/createAIModule';
import type { RelayTimes } from '../business/ai/infrastructure/events/RunEventRelay';
import type { PrivateHosts } from '../business/ai/infrastructure/clients/http/privateHosts';
import { createRequestLog } from '../business/requestLog/createRequestLog';
import type { RequestLogModule, RequestLogSettings } from '../business/requestLog/createRequestLog';
import { createRunModule } from '../business/ai/infrastructure/factories/createRunOperations';
import type { CallLimits, RunModule } from '../business/ai/infrastructure/factories/createRunOperations';
import { maxEntriesFor } from '../database/bounds/EntryBound';
import type { StorageBounds } from '../database/bounds/StorageBounds';
import { ContentRetention } from '../business/ai/infrastructure/persistence/ContentRetention';
import type { DocumentDatabase } from '../database/DocumentDatabase';
import type { Guardrail } from '../business/ai/domain/interfaces/Guardrail';
import { consoleLogger } from '../business/ai/domain/consoleLogger';
import { openResponseCache } from '../business/ai/infrastructure/persistence/cache/DocumentResponseCache';
import { RunHealth } from '../business/ai/infrastructure/persistence/runs/RunHealth';
import { RunRetention } from '../business/ai/infrastructure/persistence/runs/RunRetention';
import { DocumentRunViews } from '../business/ai/infrastructure/persistence/runs/DocumentRunViews';
import type { SealedDatabase } from '../business/privacy/infrastructure/SealedDatabase';
import { UserBatches } from '../business/batches/application/UserBatches';
import { memoryTools } from '../business/memory/infrastructure/memoryTools';
import { UserDataRemoval } from '../business/privacy/infrastructure/UserDataRemoval';
import { COLLECTIONS } from './collections';
import { userDocumentsOf } from '../database/StoredCollection';
import type { RetentionTime } from '../database/StoredCollection';
import { isStoreOutage, LLMInvalidRequestError } from '../business/ai/domain/errors/LLMErrors';
import type { ToolRule } from '../business/ai/domain/entities/toolRules';
import { DEFAULT_USER_LIMITS } from '../business/limits/domain/UserLimits';
import type { UserLimits } from '../business/limits/domain/UserLimits';
import type { UserLookup } from '../business/ai/domain/types/Actor';
import { toStoredServer } from '../business/mcp/infrastructure/managed/ConfiguredServer';
import type { ConfiguredServer } from '../business/mcp/infrastructure/managed/ConfiguredServer';
import { createProvidersModule } from '../business/providers/infrastructure/factories/createProvidersModule';
import type { ProvidersModule } from '../business/providers/infrastructure/factories/createProvidersModule';
import { SealingService } from '../business/providers/infrastructure/sealing/SealingService';
import { KeyRing } from '../business/providers/infrastructure/sealing/KeyRing';
import { openAudit } from '../business/audit/openAudit';
import type { AuditLimits } from '../business/audit/infrastructure/DocumentAuditStore';
import { UserApiTokens } from './UserApiTokens';
import { UserDataDeletion } from './userData/UserDataDeletion';
import { UserDataExport } from './userData/UserDataExport';
import { createAccessPolicy, dedupeLookups, knownToAny } from './accessPolicy';
import { toConfiguredProvider } from './configuredProvider';
import { createHostOperations } from './createHostOperations';
import { openHostStores } from './openHostStores';
import { openManagedMcpServers } from '../business/mcp/openManagedMcpServers';
import { openMemories } from '../business/memory/openMemories';
import { openMcpAccounts } from '../business/mcp/openMcpAccounts';
import { openMcpServers } from '../business/mcp/openMcpServers';
import { openSealing } from '../business/privacy/openSealing';
import { createProviderCatalog } from './providerCatalog';
import { HostShutdown } from './HostShutdown';
import { DEFAULT_SHUTDOWN_GRACE_MS } from './settings/shutdown';
import { openJobQueue } from './settings/jobs';
import type { JobSettings } from './settings/jobs';
import type { MemorySettings } from '../business/memory/settings/memory';
import type { McpSettings } from '../business/mcp/settings/mcp';
import { StoredProviderSource } from './StoredProviderSource';
import { UsageRecorder } from './UsageRecorder';

export interface HostSettings {
  readonly ai: AISettings;
  /** Who may use the vendors of `ai`. Default: admins. */
  readonly access?: 'admins' | 'everyone';
  /** Sealing keys as `id:base64,…`: the first seals, all open. */
  readonly secretKeys: string;
  /** Whether users' content is sealed before it is stored, with a key of each user. Default: false. */
  readonly sealContent?: boolean;
  /** Where browsers reach this app. */
  readonly rootUrl: string;
  /**
   * Permits http and private addresses for vendors and authorization servers that admins enter: none, those of a list
   * of host names, IP addresses and networks, or all, which is for development.
   */
  readonly allowPrivateHosts: PrivateHosts;
  /** Where the API is mounted below the root URL: '' or a path like `/ai`. Default: ''. */
  readonly httpPath?: string;
  /** Calls per user and minute. */
  readonly callLimits?: Partial<CallLimits>;
  /** What one user may do in a minute and at a time. Default: `DEFAULT_USER_LIMITS`. */
  readonly userLimits?: Partial<UserLimits>;
  /** Milliseconds that `close` waits for requests, model calls and tools in progress. Default: 20,000. */
  readonly shutdownGraceMs?: number;
  /**
   * Milliseconds for which `close` first goes on as before, while the server is not ready any more, so that load
   * balancers leave it out. Default: 0.
   */
  readonly shutdownNoticeMs?: number;
  /** The largest HTTP body and WebSocket message. Default: 32 MiB. */
  readonly maxBodyBytes?: number;
  /** The most objects, arrays and entries of a body. Default: 100,000. */
  readonly maxJsonValues?: number;
  /** Exact origins whose pages may call the API with a token. Default: none. */
  readonly corsOrigins?: readonly string[];
  /** How many requests with invalid tokens are answered in a minute. */
  readonly authFailures?: Partial<AuthFailureLimits>;
  /** How long new API tokens are valid that name no time, in milliseconds. Default: 90 days. */
  readonly tokenLifetimeMs?: number | 'never';
  /** How many proxies in front of the server append to `x-forwarded-for`. Default: 0. */
  readonly forwardedCount?: number;
  /** How queued runs are processed, and how long runs are retained. */
  readonly jobs?: JobSettings;
  /** Check every model call, before those of the ports. Default: none. */
  readonly guardrails?: readonly Guardrail[];
  /** Servers whose tools are registered. Default: none. */
  readonly mcpServers?: readonly ConfiguredServer[];
  /** Whether admins may add MCP servers that are programs, with the rights of this process. Default: false. */
  readonly mcpCommands?: boolean;
  /** What is offered over MCP. Default: nothing. */
  readonly mcp?: McpSettings;
  /** Which users may use which tools. Default: everyone may use all. */
  readonly toolRules?: readonly ToolRule[];
  /** Whether requests may be answered from cached responses, if they ask for it. Default: true. */
  readonly responseCache?: boolean;
  /** How much of each kind is stored. The defaults depend on the database. */
  readonly storage?: Partial<StorageBounds>;
  /** The log of model calls. */
  readonly requestLog?: RequestLogSettings;
  /** Milliseconds for which conversations are kept. Default, and most: 30 days. */
  readonly contentTimes?: Partial<Record<RetentionTime, number>>;
  /** How long entries of the audit trail are kept, and how many. */
  readonly auditLimits?: AuditLimits;
  /** What is remembered about users, and where it is used. Default: only what they save and search themselves. */
  readonly memory?: MemorySettings;
}

export interface HostPorts {
  /** The app's Express. Default: the host brings the router that it needs. */
  readonly express?: RouterFactory | undefined;
  readonly database: DocumentDatabase;
  /** Authenticates a request. Users' API tokens are accepted as well. */
  readonly authenticate: HttpApiPorts['authenticate'];
  /** Looks up a user for the access rules. */
  readonly findUser: UserLookup;
  /** `findUser` knows every user. Otherwise, owners of API tokens count as users, too. */
  readonly hasAccounts?: true;
  readonly ai?: Omit<AIModulePorts, 'access' | 'credentials' | 'providerSource' | 'onUsage'>;
  /** How soon processes show each other the events of runs. */
  readonly relayTimes?: Partial<RelayTimes>;
  /** The app serves pages of its own; see `HttpApiPorts.servesPages`. */
  readonly servesPages?: true;
  /** Access to `/mcp` with tokens of an authorization server. Default: none. */
  readonly mcpAccess?: McpAccess;
  /** Enables the dashboard's page over HTTP, with its files and its session. A host with DDP does not need it. */
  readonly dashboard?: DashboardPagePorts;
}

export interface Host {
  readonly apiTokens: UserApiTokens;
  /** Keeps users within their limits, in the app's own ways, too. */
  readonly userLimiter: UserLimiter;
  readonly module: AIModule;
  readonly providers: ProvidersModule;
  readonly runs: RunModule;
  readonly api: HttpApi;
  /** Everything that people read and do, by name: methods in Meteor, routes over HTTP. */
  readonly operations: DefinedOperations;
  /** Notifies open pages of what has changed. */
  readonly changes: TopicChanges;
  /** Deletes everything that is stored about a user: see `UserDataDeletion`. For apps that delete an account. */
  readonly deleteUserData: UserDataDeletion['deleteUserData'];
  /** The lines of everything that is stored about a user, each a JSON object: see `UserDataExport`. */
  exportUserData(userId: string): AsyncGenerator<string>;
  /** Writes the log of model calls in the background. */
  readonly requestLog: Pick<RequestLogModule, 'flush'>;
  /** Milliseconds after which memories expire. Absent: never. */
  readonly memoryMaxAgeMs?: number;
  /** Opens what was read from the database past the host. Absent: nothing is sealed. */
  readonly openContent?: SealedDatabase['open'];
  /** Records what is done in the app's own ways, such as sign-ins. */
  readonly audit: AuditTrail;
  /**
   * Takes no requests and runs any more, and waits for the model calls and tools of runs in progress. Requests in
   * progress go on.
   * @param hurry ends the waiting
   */
  drain(hurry?: AbortSignal): Promise<void>;
  /**
   * Drains, hands the runs over to other processes, completes the requests in progress, then closes everything, the
   * database last.
   * @param hurry ends the waiting
   */
  close(hurry?: AbortSignal): Promise<void>;
}

/** @throws LLMInvalidRequestError for invalid settings; errors of the database */
export async function createHost(
  {
    ai,
    access: configuredAccess = 'admins',
    secretKeys,
    sealContent = false,
    rootUrl: appUrl,
    httpPath = '',
    allowPrivateHosts,
    callLimits = {},
    userLimits = {},
    jobs = {},
    storage,
    requestLog: requestLogSettings = {},
    auditLimits = {},
    memory: memorySettings = {},
    contentTimes = {},
    responseCache = true,
    guardrails = [],
    mcpServers = [],
    mcpCommands = false,
    mcp: offeredMcp = { tools: [] },
    toolRules = [],
    shutdownGraceMs = DEFAULT_SHUTDOWN_GRACE_MS,
    shutdownNoticeMs = 0,
    maxBodyBytes,
    maxJsonValues,
    corsOrigins = [],
    authFailures: authFailureLimits = {},
    forwardedCount = 0,
    tokenLifetimeMs,
  }: HostSettings,
  ports: HostPorts,
): Promise<Host> {
  const { express, dashboard } = ports;
  const mcpAccess = ports.mcpAccess === undefined ? {} : { access: ports.mcpAccess };
  const homeUrl = appUrl.replace(/\/+$/, '');
  const rootUrl = homeUrl + checkedPath(httpPath);
  const sdk = offeredMcp.tools.length === 0 ? undefined : await importMcpServer();
  const ring = KeyRing.parse(secretKeys);
  const sealing = await openSealing(ports.database, COLLECTIONS, ring, sealContent);
  const database = sealing?.database ?? ports.database;
  const apiTokens = new UserApiTokens(
    database,
    (id) => {
      module.apiTokens?.policy.forget(id);
      dashboard?.sessions.forgetTokens();
      void api.checkToken(id);
    },
    ports.hasAccounts === true ? ports.findUser : undefined,
  );
  const authenticate: HostPorts['authenticate'] = async (request) =>
    (await ports.authenticate(request)) ?? apiTokens.authenticate(request);
  const authFailures = new AuthFailureLimiter({ limits: authFailureLimits, forwardedCount });
  const findUser = dedupeLookups(
    ports.hasAccounts === true ? ports.findUser : knownToAny(ports.findUser, apiTokens.tokens.findUser),
  );
  const accounts = ports.hasAccounts === true ? { findUser } : {};
  const providers = createProvidersModule(
    { secretKeys, rootUrl, allowPrivateHosts },
    {
      collection: (name) => database.collection(name),
      findUser,
      catalog: createProviderCatalog(() => module, database, ai.models),
      probe: (providerId, userId) =>
        // Either result is news about the provider's health.
        module.manager.validateAccess(userId, providerId).finally(() => changes.notify('providers')),
      configured: ai.providers.map((provider) => toConfiguredProvider(provider, configuredAccess)),
      accounts: accounts.findUser,
      otherSecrets: () => [managedMcp, ...(sealing === undefined ? [] : [sealing.keys])],
      isAlone: database.isExclusive,
    },
  );
  const changes = new TopicChanges();
  providers.changes.subscribe(() => changes.notify('providers'));
  const chats = new ChatStore(database.collection(CHATS));
  // Another process may serve the dashboard.
  const sessions = new SessionStore(database.collection(SESSIONS));
  const identities = new IdentityStore(database.collection(IDENTITIES));
  // Random ids, like the states of sign-ins, which are kept for minutes, too.
  const usedApprovals = new UsedStates(database.collection(SIGN_IN_STATES));
  if (sdk !== undefined) await usedApprovals.ready();
  await Promise.all([providers.ready(), apiTokens.ready(), chats.ready(), sessions.ready(), identities.ready()]);
  const storedProviders = new StoredProviderSource(providers, allowPrivateHosts);
  await storedProviders.refresh();
  const stores = await openHostStores(database, storage);
  const userLimiter = new UserLimiter({
    limits: { ...DEFAULT_USER_LIMITS, ...userLimits },
    ...(stores.userLoads === undefined ? {} : { store: stores.userLoads }),
  });
  const access = createAccessPolicy(storedProviders, findUser, {
    findToken: (id) => apiTokens.tokens.find(id),
    toolRules,
    hasAccounts: ports.hasAccounts,
  });
  const usage = new UsageRecorder((used) => providers.recordUsage(used));
  const jobQueue = await openJobQueue(jobs, database);
  const requestLog = createRequestLog(requestLogSettings, {
    database,
    onStored: (userId) => changes.notify('requests', userId),
    bounds: { maxEntries: maxEntriesFor(database, 1 / 3, Infinity), bodies: stores.bounds },
  });
  await requestLog.ready();
  const memories = await openMemories(memorySettings, {
    database,
    manager: () => module.manager,
    onChange: (userId) => changes.notify('memories', userId),
    logger: consoleLogger,
  });
  const module = createAIModule(ai, {
    ...(requestLog.log === undefined ? {} : { requestLog: requestLog.log }),
    budgets: stores.budgets,
    budgetLimits: stores.budgetLimits,
    routingRules: stores.routingRules,
    apiTokens: {
      tokens: { find: (id) => apiTokens.tokens.find(id) },
      budgets: stores.tokenBudgets,
      rates: stores.rates,
      teamBudgets: stores.teamBudgets,
      teamLimits: stores.teamLimits,
    },
    userLimiter,
    responses: stores.responses,
    vendorObjects: stores.vendorObjects,
    batches: stores.batches,
    backgroundCalls: stores.backgroundCalls,
    memory: stores.memory,
    memories,
    ...(memorySettings.recall === undefined ? {} : { recall: memorySettings.recall }),
    turns: stores.turns,
    responseCache: responseCache && (await openResponseCache(database, { bounds: stores.bounds })),
    ...ports.ai,
    guardrails: [...guardrails, ...(ports.ai?.guardrails ?? [])],
    runs: stores.runs,
    toolWaitMs: jobs.toolWaitMs,
    jobs: jobQueue,
    providerSource: storedProviders,
    credentials: providers.credentials,
    access,
    onUsage: (used) => usage.record(used),
    onFollowed: (executionId) => stores.inbox.markHandled(executionId),
    onStateStored: (userId) => {
      changes.notify('runs', userId);
      changes.notify('calls', userId);
    },
  });
  if (memorySettings.tools === true) for (const tool of memoryTools(memories)) module.tools.register(tool);
  module.telemetry.metrics.observe('bolide.queue.depth', async () => {
    try {
      return [{ value: (await stores.queuedRuns.waiting(1)).total }];
    } catch (error) {
      // It is unknown, then, which the absence of the metric says.
      if (isStoreOutage(error)) return [];
      throw error;
    }
  });
  const batches = new UserBatches({
    store: stores.userBatches,
    provider: module.manager,
    batchStore: stores.batches,
    loop: module.loop,
    logger: consoleLogger,
  });
  module.recovery.add(batches);
  const collection = database.collection.bind(database);
  const runs = createRunModule(module, {
    collection,
    views: new DocumentRunViews(database),
    limits: callLimits,
    access,
    ...(stores.runEvents === undefined ? {} : { runEvents: stores.runEvents }),
    ...(ports.relayTimes === undefined ? {} : { relayTimes: ports.relayTimes }),
  });
  module.conversations.showLiveText(runs);
  await runs.ready();
  const retention = new RunRetention(database, {
    endParked: (executionId, reason) => module.loop.endParked(executionId, reason),
    ...(jobs.retention === undefined ? {} : { times: jobs.retention }),
  });
  await retention.ready();
  // Before runs go on that need their tools.
  const mcpOptions = { allowPrivateHosts, logger: consoleLogger };
  const mcpStorage = { database, sealer: new SealingService(ring), logger: consoleLogger };
  const mcpAccounts = await openMcpAccounts({
    ...{ ...mcpStorage, allowPrivateHosts },
    redirectUrl: rootUrl + MCP_SIGN_IN_PAGES.callback,
    signInUrl: (name) => `${homeUrl}/#/mcp-servers/${name}`,
  });
  const closeConfigured = await openMcpServers(
    module.tools,
    mcpServers.map((server) => mcpAccounts.serverAccounts.settingsOf(toStoredServer(server))),
    mcpOptions,
  );
  const managedMcp = await openManagedMcpServers(module.tools, mcpServers, mcpAccounts, {
    ...mcpStorage,
    allowCommands: mcpCommands,
    findUser,
    createFlow: (servers) => providers.createFlow(servers, MCP_SIGN_IN_PAGES.start),
    onChange: () => {
      changes.notify('mcpServers');
      // The page of the tools.
      changes.notify('calls');
    },
  }).catch(async (error: unknown) => {
    await closeConfigured();
    throw error;
  });
  const closeMcpServers = async (): Promise<void> => {
    await Promise.all([closeConfigured(), managedMcp.close()]);
  };
  try {
    await module.recovery.start();
    await module.queue.start();
  } catch (error) {
    // Their processes would keep this one alive.
    await closeMcpServers();
    throw error;
  }
  retention.start();
  const contentRetention = new ContentRetention(database, COLLECTIONS, { times: contentTimes });
  contentRetention.start();
  const audit = await openAudit({
    database,
    logger: consoleLogger,
    onChange: (userId) => changes.notify('audit', userId),
    ownerOfRun: runs.ownerOf,
    providers: providers.service,
    limits: auditLimits,
    forwardedCount,
  });
  const deletion = new UserDataDeletion({
    module,
    runs,
    providers,
    apiTokens,
    sessions: dashboard?.sessions ?? sessions,
    identities,
    chats,
    api: { cancelUser: (userId) => api.cancelUser(userId) },
    usage,
    requestLog,
    userLimiter,
    memories,
    documents: new UserDataRemoval(database, module.jobs, userDocumentsOf(COLLECTIONS)),
    ...(sealing === undefined ? {} : { contentKeys: sealing.keys }),
    database,
    audit,
  });
  const dataExport = new UserDataExport({
    database,
    async flush() {
      await runs.settled();
      await module.usageSettled();
      await usage.flush();
      await requestLog.flush();
      await audit.trail.settled();
    },
  });
  const operations = createHostOperations({
    stores,
    module,
    runs,
    requestLog,
    tokens: apiTokens.tokens,
    tokenLifetimeMs,
    access,
    userData: { deleteUserData: deletion.deleteUserData, exportUserData: dataExport.exportUserData },
    audit,
    jobQueue,
    mcpServers: managedMcp.administration,
    memories,
    batches,
    mcpSignIns: managedMcp.signIns,
    providers: providers.administration,
    changes,
    logger: consoleLogger,
    ...accounts,
  });
  // Chats and AG-UI decide about calls, too.
  const audited = { ...runs, methods: operations };
  const oauthPages = { express, authenticate: authFailures.limit(authenticate) };
  const homeOf = (page: string): string => (dashboard === undefined ? appUrl : `${homeUrl}/${page}`);
  const oauth = createRouter(express);
  oauth.use(
    createOAuthRoutes({
      ...{ ...oauthPages, flow: managedMcp.flow, pages: MCP_SIGN_IN_PAGES },
      onConnected: audit.onSignedInAtMcpServer,
      homeUrl: (name) => homeOf(name === undefined ? 'mcp-servers' : `mcp-servers/${name}`),
    }),
    createOAuthRoutes({
      ...{ ...oauthPages, flow: providers.flow, onConnected: audit.onConnected },
      homeUrl: () => homeOf('providers'),
    }),
  );
  const api = createHttpApi(module, {
    express,
    authenticate,
    authFailures,
    isTokenValid: (tokenId) => apiTokens.tokens.isValid(tokenId),
    access,
    userLimiter,
    secrets: ring.keys.map(({ bytes }) => bytes),
    operations,
    audit: audit.trail,
    forwardedCount,
    changes,
    conversations: stores.conversations,
    responseEvents: stores.responseEvents,
    ...(requestLog.log === undefined ? {} : { requestLog: requestLog.log }),
    readiness: {
      outage: () => database.outage,
      isLeaseCurrent: () => module.loop.isLeaseCurrent,
      isQueueRunning: () => module.queue.isRunning,
    },
    runHealth: new RunHealth(database, stores.inbox),
    isAlone: database.isExclusive,
    limits: {
      shutdownGrace: shutdownGraceMs,
      ...(maxBodyBytes === undefined ? {} : { maxBodyBytes }),
      ...(maxJsonValues === undefined ? {} : { maxJsonValues }),
    },
    oauth,
    corsOrigins,
    ...(sdk === undefined
      ? {}
      : {
          mcp: {
            ...{ sdk, tools: offeredMcp.tools, rootUrl, homeUrl, usedApprovals },
            toolTasks: stores.toolTasks,
            ...mcpAccess,
          },
        }),
    runs: audited,
    chats,
    servesPages: ports.servesPages ?? false,
    // A proxy may or may not strip the root URL's path.
    basePaths: [httpPath, new URL(rootUrl).pathname.replace(/\/+$/, '')],
    ...(dashboard === undefined ? {} : { dashboard }),
  });
  const shutdown = new HostShutdown({
    api,
    module,
    onDrain: () => {
      batches.stop();
      runs.leave();
    },
    noticeMs: shutdownNoticeMs,
    graceMs: shutdownGraceMs,
  });
  return {
    apiTokens,
    userLimiter,
    module,
    providers,
    runs: audited,
    api,
    operations,
    changes,
    deleteUserData: audit.auditDeletion(deletion.deleteUserData),
    async *exportUserData(userId) {
      await audit.recordExport(userId);
      yield* dataExport.lines(userId);
    },
    requestLog,
    audit: audit.trail,
    ...(memorySettings.maxAgeMs === undefined ? {} : { memoryMaxAgeMs: memorySettings.maxAgeMs }),
    ...(sealing === undefined ? {} : { openContent: sealing.database.open }),
    drain: (hurry) => shutdown.drain(hurry),
    async close(hurry) {
      await shutdown.handOver(hurry);
      await closeMcpServers();
      await retention.stop();
      await contentRetention.stop();
      await runs.close();
      await usage.settled();
      await apiTokens.tokens.settled();
      await dashboard?.sessions.settled();
      await requestLog.flush();
      await audit.trail.settled();
      await unlessOutage(userLimiter.close());
      providers.close();
      await database.close();
    },
  };
}

/** Without its database, a process ends all the same. */
async function unlessOutage(closed: Promise<void>): Promise<void> {
  try {
    await closed;
  } catch (error) {
    if (!isStoreOutage(error)) throw error;
  }
}

/** @throws LLMInvalidRequestError */
function checkedPath(path: string): string {
  if (path === '' || /^(?:\/[\w.-]+)+$/.test(path)) return path;
  throw new LLMInvalidRequestError(`httpPath must be empty or a path like "/ai", but is "${path}".`, {
    path: 'httpPath',
  });
}
