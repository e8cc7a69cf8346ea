/** Creates the HTTP API of a host, with the pages on which people sign in at vendors and MCP servers. */
import type { IncomingMessage } from 'node:http';
import { GRANT_PREFIX } from '../api/auth/ApiTokens';
import { AuthFailureLimiter } from '../api/auth/AuthFailureLimiter';
import { clientOf } from '../api/auth/clientOf';
import { AuthorizationServer, GRANTED_SCOPES } from '../api/authorization/AuthorizationServer';
import { createAuthorizationRoutes } from '../api/authorization/authorizationRoutes';
import { createHttpApi } from '../api/createHttpApi';
import type { HttpApi, HttpApiPorts } from '../api/createHttpApi';
import type { ChatStore } from '../api/chat/ChatStore';
import { UsedStates, SIGN_IN_STATES } from '../api/signIn/UsedStates';
import { createRouter } from '../api/http/createRouter';
import type { HttpRouter } from '../api/http/createRouter';
import { createOAuthRoutes } from '../api/oauth/oauthRoutes';
import { MissingPackageError } from '../business/ai/domain/errors/LLMErrors';
import { omitUndefined } from '../business/ai/domain/util/omitUndefined';
import { RunHealth } from '../business/ai/infrastructure/persistence/runs/RunHealth';
import type { OpenedAudit } from '../business/audit/openAudit';
import type { UserLimiter } from '../business/limits/application/UserLimiter';
import { importMcpServer } from '../business/mcp/api/importMcpServer';
import { MCP_PATH } from '../business/mcp/api/addMcpRoutes';
import type { McpAccess } from '../business/mcp/api/addMcpRoutes';
import type { McpOffer } from '../business/mcp/api/createMcpServerPorts';
import { MCP_SIGN_IN_PAGES } from '../business/mcp/api/mcpSignInPages';
import type { DelegatedOAuthFlow } from '../business/providers/application/oauth/DelegatedOAuthFlow';
import type { RunningHost } from './Feature';
import type { UserApiTokens } from './UserApiTokens';

export interface ServedParts {
  readonly apiTokens: UserApiTokens;
  readonly secrets: readonly Buffer[];
  readonly chats: ChatStore;
  readonly userLimiter: UserLimiter;
  readonly audit: OpenedAudit;
  /** The flow of the sign-in pages of MCP servers. */
  readonly mcpFlow: DelegatedOAuthFlow;
  readonly shutdownGraceMs: number;
}

export async function serveApi(
  host: RunningHost,
  parts: ServedParts,
  routes: Pick<HttpApiPorts, 'operations' | 'runs' | 'changes' | 'requestLog'>,
): Promise<HttpApi> {
  const { settings, ports, database, ai, stores, rootUrl, homeUrl, providers } = host;
  const { apiTokens, audit, userLimiter, chats, secrets } = parts;
  const { express, dashboard } = ports;
  const { httpPath = '', forwardedCount = 0, corsOrigins = [], maxBodyBytes, maxJsonValues } = settings;
  const authFailures = new AuthFailureLimiter({ limits: settings.authFailures ?? {}, forwardedCount });
  const authenticate: HttpApiPorts['authenticate'] = async (request) =>
    (await ports.authenticate(request)) ?? apiTokens.authenticate(request);
  const pages = { express, authenticate: authFailures.limit(authenticate) };
  const homeOf = (page: string): string => (dashboard === undefined ? settings.rootUrl : `${homeUrl}/${page}`);
  const oauth = createRouter(express);
  const mcp = await offeredMcp(host);
  const authorization = mcp === undefined ? undefined : createAuthorization(host, parts, mcp);
  if (authorization !== undefined) oauth.use(authorization.routes);
  oauth.use(
    createOAuthRoutes({
      ...{ ...pages, flow: parts.mcpFlow, pages: MCP_SIGN_IN_PAGES },
      onConnected: audit.onSignedInAtMcpServer,
      homeUrl: (name) => homeOf(name === undefined ? 'mcp-servers' : `mcp-servers/${name}`),
    }),
    createOAuthRoutes({
      ...{ ...pages, flow: providers.flow, onConnected: audit.onConnected },
      homeUrl: () => homeOf('providers'),
    }),
  );
  return createHttpApi(ai, {
    ...{ express, authenticate, authFailures, userLimiter, secrets, forwardedCount, corsOrigins, oauth, chats },
    ...routes,
    isTokenValid: (tokenId) => apiTokens.tokens.isValid(tokenId),
    access: host.access,
    storage: host.storage,
    audit: audit.trail,
    conversations: stores.conversations,
    responseEvents: stores.responseEvents,
    readiness: {
      outage: () => database.outage,
      checkRoom: async () => database.checkRoom?.(),
      isLeaseCurrent: () => ai.loop.local.isLeaseCurrent,
      isQueueRunning: () => ai.queue.isRunning,
    },
    runHealth: new RunHealth(database, stores.inbox),
    isAlone: database.isExclusive,
    limits: omitUndefined({ shutdownGrace: parts.shutdownGraceMs, maxBodyBytes, maxJsonValues }),
    mcp: mcp && omitUndefined({ ...mcp, access: ports.mcpAccess ?? authorization?.access }),
    servesPages: ports.servesPages ?? false,
    // A proxy may or may not strip the root URL's path.
    basePaths: [httpPath, new URL(rootUrl).pathname.replace(/\/+$/, '')],
    dashboard,
  });
}

async function offeredMcp({
  settings,
  ports,
  database,
  stores,
  rootUrl,
  homeUrl,
  logger,
}: RunningHost): Promise<OfferedMcp | undefined> {
  const { tools = [] } = settings.mcp ?? {};
  const { exposed } = ports;
  if (tools.length === 0 && exposed === undefined) return undefined;
  // Random ids, like the states of sign-ins, which are kept for minutes, too.
  const usedApprovals = new UsedStates(database.collection(SIGN_IN_STATES));
  await usedApprovals.ready();
  const sdk = await importMcpServer().catch((error: unknown) => {
    // An app may expose methods to runs only.
    if (tools.length > 0 || !(error instanceof MissingPackageError)) throw error;
    logger.info(`The exposed methods are tools of runs, and are not offered over MCP: ${error.message}`);
  });
  if (sdk === undefined) return undefined;
  const { mcpSessions: keepsSessions } = settings;
  return { sdk, tools, exposed, rootUrl, homeUrl, usedApprovals, toolTasks: stores.toolTasks, keepsSessions };
}

interface OfferedMcp extends Omit<McpOffer, 'access'> {
  readonly usedApprovals: UsedStates;
}

/** An authorization server for `/mcp`, where the app's users consent. */
function createAuthorization(
  { settings, ports, homeUrl, rootUrl, sealer, findUser, tokens }: RunningHost,
  { audit, secrets }: ServedParts,
  { usedApprovals }: OfferedMcp,
): { readonly routes: HttpRouter; readonly access: McpAccess } | undefined {
  const { mcpSignIn = '/' } = settings;
  const { consent, express } = ports;
  const [secret] = secrets;
  if (consent === undefined || mcpSignIn === 'off' || secret === undefined) return undefined;
  const server = new AuthorizationServer({
    ...{ tokens, sealer, secret, rootUrl },
    usedCodes: usedApprovals,
    isUser: async (userId) => (await findUser(userId)) !== undefined,
    resource: rootUrl + MCP_PATH,
  });
  const record = (
    action: 'token.create' | 'token.revoke',
    { userId, tokenId }: { readonly userId: string; readonly tokenId: string },
    request?: IncomingMessage,
  ): Promise<void> => {
    const client = request === undefined ? {} : { client: clientOf(request, settings.forwardedCount ?? 0) };
    const subject = { kind: 'token', id: tokenId, ownerId: userId } as const;
    return audit.trail.record({ userId, source: 'http', ...client }, { action, subject }, { isSafe: true });
  };
  return {
    routes: createAuthorizationRoutes({
      ...{ ...consent, express, server },
      // Only the app's own sign-in counts: a token must not beget others.
      authenticate: async (request) => ports.authenticate(request),
      signInUrl: homeUrl + mcpSignIn,
      basePath: new URL(homeUrl).pathname.replace(/^\/|\/$/g, ''),
      revoke: (userId, id) => tokens.revoke(userId, id),
      onGranted: (issued, request) => record('token.create', issued, request),
      onRevoked: (revoked) => record('token.revoke', revoked),
    }),
    access: {
      issuer: server.issuer,
      resourceName: consent.appName,
      scopes: GRANTED_SCOPES,
      accepts: (token) => token.startsWith(GRANT_PREFIX),
      verify: (token) => server.verify(token),
    },
  };
}
