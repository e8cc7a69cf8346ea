/** The plain-Node host: the HTTP API and the dashboard, with its database in DATA_DIR or at MONGO_URL. */
import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApiTokens } from '../../api/auth/ApiTokens';
import { presentedToken } from '../../api/auth/presentedToken';
import { MemoryApiTokenStore } from '../../api/auth/MemoryApiTokenStore';
import { DashboardSessions } from '../../api/dashboard/DashboardSessions';
import type { SessionTokens } from '../../api/dashboard/DashboardSessions';
import type { DashboardPagePorts } from '../../api/dashboard/dashboardPages';
import { SESSIONS, SessionStore } from '../../api/dashboard/SessionStore';
import { SIGN_IN_PATH } from '../../api/signIn/SignInFlow';
import type { OpenIdSignIn } from '../../api/signIn/signInRoutes';
import type { HttpRouter } from '../../api/http/createRouter';
import { consoleLogger } from '../../log/consoleLogger';
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import type { DocumentDatabase } from '../../database/DocumentDatabase';
import { openDatabase } from '../../database/openDatabase';
import { toToolRegistry } from '../../business/ai/infrastructure/tools/toToolRegistry';
import type { ToolList } from '../../business/ai/infrastructure/tools/toToolRegistry';
import { knownToAny } from '../accessPolicy';
import { createHost } from '../createHost';
import type { Host } from '../createHost';
import { createSignIn } from '../createSignIn';
import type { SignIn } from '../createSignIn';
import { createMcpAccess } from '../../business/mcp/createMcpAccess';
import type { OpenedMcpAccess } from '../../business/mcp/createMcpAccess';
import { listenedUrl } from '../settings/nodeSettings';
import { readServerSettings } from '../settings/server';
import { processEnvironment } from '../settings/environment';
import type { Environment } from '../settings/environment';
import { openSettings } from '../moduleFromEnvironment';
import { SIMULATION_NOTICE } from '../simulation';
import type { OpenedSettings } from '../moduleFromEnvironment';
import { answerUnrouted } from './answerUnrouted';
import { createHttpServer } from './createHttpServer';
import { dashboardFiles } from './dashboardFiles';
import type { DashboardAssets } from './dashboardFiles';
import { readDashboard } from './readDashboard';
import { readSecretKeys } from './readSecretKeys';

export interface ServerOptions {
  /** The variables of the configuration reference. Default: `process.env`. */
  readonly env?: Environment;
  /** The tools that runs can call by name. Runs from before a restart continue at once and need them. */
  readonly tools?: ToolList;
  /** Loads the dashboard's files; `false` serves no dashboard. Default: the dashboard of the npm package. */
  readonly dashboard?: false | (() => Promise<DashboardAssets>);
  /** Milliseconds between two events of a simulated stream. Default: 15, as if a model wrote. */
  readonly simulatedPause?: number;
}

export interface RunningServer {
  readonly url: string;
  readonly token: string;
  readonly isSimulated: boolean;
  /** The OpenID provider, if that is the only way to sign in to the dashboard. */
  readonly signInWith?: string;
  readonly host: Host;
  /**
   * Completes what is in progress, hands runs over, then closes everything. Safe to call again.
   * @param hurry ends the waiting for what is in progress
   */
  close(hurry?: AbortSignal): Promise<void>;
}

/** The owner of the local token. */
const LOCAL_USER = 'local';

/**
 * Reads PORT (default 3000), HOST (default 127.0.0.1), ROOT_URL, BOLIDE_API_TOKEN, DATA_DIR (default .data),
 * MONGO_URL, AI_SECRET_KEYS, AI_ALLOW_PRIVATE_HOSTS, the variables of settings/ and the vendors' from `env`. Without
 * any vendor's key, responses are simulated. Closes everything again if the start fails.
 * @throws LLMInvalidRequestError that names every invalid or misspelt variable, or the invalid tool or option
 */
export async function startServer(options: ServerOptions = {}): Promise<RunningServer> {
  const resources: OpenResources = {};
  try {
    const opened = await open(options, resources);
    let closed: Promise<void> | undefined;
    return { ...opened, close: (hurry) => (closed ??= close(resources, hurry)) };
  } catch (error) {
    await close(resources);
    throw error;
  }
}

/** What has been opened so far. */
interface OpenResources {
  simulator?: OpenedSettings['simulator'];
  server?: Server;
  database?: DocumentDatabase;
  signIn?: SignIn | undefined;
  mcpAccess?: OpenedMcpAccess | undefined;
  host?: Host;
}

async function open(
  { env = processEnvironment(), tools = [], dashboard: loadDashboard = readDashboard, simulatedPause }: ServerOptions,
  resources: OpenResources,
): Promise<Omit<RunningServer, 'close'>> {
  const registry = toToolRegistry(tools);
  const { port, hostName, oidc, mcpIssuer, host: settings, ...given } = readServerSettings(env);
  const { token = randomBytes(24).toString('base64url') } = given;
  const { allowPrivateHosts } = settings;
  const tokens = new ApiTokens({ store: new MemoryApiTokenStore() });
  await tokens.adopt(token, { userId: LOCAL_USER, name: 'local use', scopes: ['admin'] });
  const { settings: ai, simulator } = await openSettings(env, simulatedPause);
  resources.simulator = simulator;
  // The root URL needs the port, so the server listens first. Requests wait until everything is ready.
  const ready = Promise.withResolvers<HttpRouter>();
  const server = (resources.server = createHttpServer(CONNECTIONS, (request, response) => {
    void ready.promise.then((router) => {
      router(request, response, (thrown) => answerUnrouted(thrown, request, response));
    });
  }));
  await listen(server, port, hostName);
  // A server that listens on a port has an AddressInfo.
  const { port: bound } = server.address() as AddressInfo;
  const database = (resources.database = await openDatabase(env));
  const secretKeys = await readSecretKeys(env);
  const url = listenedUrl(hostName, bound);
  const { rootUrl = url } = given;
  const signIn = (resources.signIn =
    oidc === undefined
      ? undefined
      : await createSignIn(oidc, { database, secretKeys, rootUrl, allowPrivateHosts, logger: consoleLogger }));
  const mcpAccess = (resources.mcpAccess =
    mcpIssuer && createMcpAccess({ issuer: mcpIssuer, audience: `${trimmed(rootUrl)}/mcp`, allowPrivateHosts }));
  const sessionTokens: SessionTokens = {
    verify: async (token) => (await tokens.verify(token)) ?? resources.host?.apiTokens.verify(token),
    verifySecretId: async (id) => (await tokens.verifySecretId(id)) ?? resources.host?.apiTokens.verifySecretId(id),
  };
  const sessions = createSessions(database, rootUrl, oidc?.isOnly === true ? NO_TOKENS : sessionTokens, signIn);
  const notice = simulator === undefined ? undefined : SIMULATION_NOTICE;
  const host = (resources.host = await createHost(
    {
      ai,
      secretKeys,
      rootUrl,
      ...settings,
    },
    {
      database,
      // A token that is presented counts, even if it is invalid: it must not be answered for the session beside it.
      authenticate: (request) =>
        presentedToken(request) === undefined ? sessions.authenticate(request) : tokens.authenticate(request),
      findUser: signIn === undefined ? tokens.findUser : knownToAny(tokens.findUser, signIn.identities.findUser),
      findNames: signIn?.identities.findNames,
      searchUsers: signIn?.identities.searchUsers,
      ai: { tools: registry },
      mcpAccess,
      dashboard:
        loadDashboard === false ? undefined : await openDashboard(loadDashboard, sessions, notice, signIn?.openId),
    },
  ));
  server.on('upgrade', (request, socket, head) => {
    if (!host.api.handleUpgrade(request, socket, head)) socket.destroy();
  });
  ready.resolve(host.api.router);
  return {
    url,
    token,
    isSimulated: simulator !== undefined,
    ...(oidc?.isOnly === true ? { signInWith: oidc.name } : {}),
    host,
  };
}

function trimmed(url: string): string {
  return url.replace(/\/+$/, '');
}

/** Sessions of API tokens, also those from before, have ended. */
const NO_TOKENS: SessionTokens = {
  verify: () => Promise.resolve(undefined),
  verifySecretId: () => Promise.resolve(undefined),
};

/** Dashboard sessions for the host name and protocol of the root URL. */
function createSessions(
  database: DocumentDatabase,
  rootUrl: string,
  tokens: SessionTokens,
  signIn: SignIn | undefined,
): DashboardSessions {
  const { hostname, protocol } = new URL(rootUrl);
  const store = new SessionStore(database.collection(SESSIONS));
  return new DashboardSessions({
    store,
    tokens,
    hostNames: [hostname],
    isSecure: protocol === 'https:',
    identities: signIn?.identities,
  });
}

async function openDashboard(
  load: () => Promise<DashboardAssets>,
  sessions: DashboardSessions,
  notice: string | undefined,
  openId: OpenIdSignIn | undefined,
): Promise<DashboardPagePorts> {
  const link =
    openId === undefined ? undefined : { name: openId.name, url: openId.rootUrl + SIGN_IN_PATH, isOnly: openId.isOnly };
  return omitUndefined({ sessions, dashboard: dashboardFiles(await load(), notice, link), notice, openId });
}

async function close(
  { server, host, signIn, mcpAccess, database, simulator }: OpenResources,
  hurry?: AbortSignal,
): Promise<void> {
  // New connections are still answered, with 503, so that a load balancer learns that it has to choose another process.
  await host?.close(hurry);
  const closed = new Promise<void>((resolve) => {
    if (server === undefined) resolve();
    else server.close(() => resolve());
  });
  signIn?.close();
  mcpAccess?.close();
  server?.closeAllConnections();
  await closed;
  await database?.close();
  await simulator?.close();
}

/**
 * Milliseconds. Bounds how long a client that sends its request byte by byte can hold a connection. Idle connections
 * live longer than those of common proxies and clients, so that no request meets a connection that is being closed.
 */
const CONNECTIONS = {
  headersTimeout: 10_000,
  requestTimeout: 120_000,
  connectionsCheckingInterval: 2_000,
  keepAliveTimeout: 65_000,
};

/** @throws LLMInvalidRequestError if the address is in use */
function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        new LLMInvalidRequestError(
          `Cannot listen on ${host}:${port}: ${cause.message}. Set PORT or HOST to another value.`,
          { cause, path: 'PORT' },
        ),
      ),
    );
    server.listen(port, host, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
}
