/** Creates the HTTP API as a router that an Express app can mount. Unknown paths below the API's own get its 404. */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { HttpHandler } from './http/HttpMessages';
import { createRouter } from './http/createRouter';
import type { HttpRouter, RouterFactory } from './http/createRouter';
import type { RunHealth } from '../business/ai/infrastructure/persistence/runs/RunHealth';
import type { ResponseConversationStore } from '../business/ai/domain/interfaces/ResponseConversationStore';
import type { ResponseEventStore } from '../business/ai/domain/interfaces/ResponseEventStore';
import { consoleLogger } from '../log/consoleLogger';
import { programLogger } from '../log/programLogger';
import type { Logger } from '../business/ai/domain/interfaces/Logger';
import type { RequestLog } from '../business/requestLog/domain/RequestLog';
import type { AccessPolicy } from '../business/ai/domain/interfaces/AccessPolicy';
import { MemoryResponseConversations } from '../business/ai/infrastructure/persistence/responses/MemoryResponseConversations';
import { MemoryResponseEvents } from '../business/ai/infrastructure/persistence/responses/MemoryResponseEvents';
import type { TopicChanges } from '../business/ai/infrastructure/events/TopicChanges';
import type { AIModule } from '../business/ai/infrastructure/factories/createAIModule';
import type { AuditRecorder } from '../business/ai/domain/interfaces/AuditRecorder';
import { omitUndefined } from '../business/ai/domain/util/omitUndefined';
import type { UserStorage } from '../business/ai/domain/interfaces/UserStorage';
import type { UserLimiter } from '../business/limits/application/UserLimiter';
import { validPrincipal } from './auth/ApiPrincipal';
import type { ApiPrincipal } from './auth/ApiPrincipal';
import { AuthFailureLimiter } from './auth/AuthFailureLimiter';
import { OpenSessions } from './auth/OpenSessions';
import { OpenTokens } from './auth/OpenTokens';
import { addApiRoutes } from './routes';
import type { ReadinessPorts } from './health/readReadiness';
import type { ServedOperations } from './http/addOperationRoutes';
import type { DashboardPagePorts } from './dashboard/dashboardPages';
import { allowOrigins } from './http/allowOrigins';
import { toLLMError } from './http/toLLMError';
import { leavePages } from './http/movedPaths';
import { InFlightRequests } from './http/InFlightRequests';
import { useCanonicalPath } from './http/canonicalPath';
import { Metrics } from './http/Metrics';
import { VendorObjectGuard } from './gateway/VendorObjectGuard';
import { ModelDirectory } from './gateway/models/ModelDirectory';
import { Conversations } from './gateway/conversations/Conversations';
import { prepareResponse } from './gateway/responses/prepareResponse';
import { BackgroundResponses } from './gateway/responses/BackgroundResponses';
import { ResponseService } from './gateway/responses/ResponseService';
import { EncryptedSummaries } from './gateway/responses/EncryptedSummaries';
import { ResponseSockets } from './gateway/responses/websocket/ResponseSockets';
import { AgUiRuns } from './agUi/AgUiRuns';
import { Chats } from './chat/Chats';
import type { ChatStore } from './chat/ChatStore';
import { StoredRuns } from './chat/StoredRuns';
import { createMcpServerPorts } from '../business/mcp/api/createMcpServerPorts';
import type { McpOffer } from '../business/mcp/api/createMcpServerPorts';
import type { McpServerPorts } from '../business/mcp/api/createMcpServer';
import { McpHttp } from '../business/mcp/api/McpHttp';
import type { RunRoutePorts } from './runs/RunRoutePorts';
import { watching } from '../business/ai/domain/util/watching';

export interface HttpApiPorts {
  /** The app's Express. Default: the API brings the router that it needs. */
  readonly express?: RouterFactory | undefined;
  /** The principal of a request, or undefined if it has no valid token or session. */
  readonly authenticate: (request: IncomingMessage) => Promise<ApiPrincipal | undefined> | ApiPrincipal | undefined;
  /** Whether an API token is valid; undefined if it is not stored. Requests and sockets of invalid ones are ended. */
  readonly isTokenValid?: (tokenId: string) => Promise<boolean | undefined>;
  /** Limits requests with invalid tokens. Default: one of this API, with the default limits. */
  readonly authFailures?: AuthFailureLimiter;
  /** Keeps callers within their limits. Default: they have none. */
  readonly userLimiter?: UserLimiter;
  /** What users may store. Default: as much as they like. */
  readonly storage?: Pick<UserStorage, 'admit'>;
  /** Which providers a caller may use; the policy of the module's use cases. Default: everyone may use all of them. */
  readonly access?: AccessPolicy;
  /** The keys that encrypt compacted conversations: the first encrypts, all decrypt. Default: a random key. */
  readonly secrets?: readonly Buffer[];
  /** `/oauth/…`, where users connect accounts: see `createOAuthRoutes`. */
  readonly oauth?: HttpHandler;
  /** Enables `/runs/stream` and `/stats`. */
  readonly runs?: RunRoutePorts;
  /** Enables `/chat`, with `runs` that have `live` events. */
  readonly chats?: ChatStore;
  /** Enables `/mcp`. */
  readonly mcp?: McpOffer | undefined;
  /** Enables the dashboard's page, files and session. */
  readonly dashboard?: DashboardPagePorts | undefined;
  /** Conversations of the Responses API. Default: in memory. */
  readonly conversations?: ResponseConversationStore;
  /** The streams of background responses. Default: in memory. */
  readonly responseEvents?: ResponseEventStore;
  /** The operations that have routes. */
  readonly operations?: ServedOperations;
  /** Sent with the stream of run events, so that pages reload what has changed. */
  readonly changes?: TopicChanges;
  /** The host also serves the app's own pages: browsers that open a path as a page are left to it. Default: false. */
  readonly servesPages?: boolean;
  /** The paths under which the host mounts the router, for WebSockets. Default: the root. */
  readonly basePaths?: readonly string[];
  /** Exact origins whose pages may call the API with a token. Default: none. */
  readonly corsOrigins?: readonly string[];
  readonly limits?: Partial<HttpApiLimits>;
  /** Receives requests that fail before they call a model. The manager logs the others. */
  readonly requestLog?: Pick<RequestLog, 'add'> | undefined;
  /** Records sign-ins, exports and callers without the scope of a route. Default: nothing does. */
  readonly audit?: AuditRecorder;
  /** How many proxies in front of the server append to `x-forwarded-for`. Default: 0. */
  readonly forwardedCount?: number;
  /** What `/ready` tells. Default: the server is ready until it shuts down. */
  readonly readiness?: ReadinessPorts;
  /** No other process uses the module's stores. Default: false. */
  readonly isAlone?: boolean;
  /** Receives what requests could not be sent with, at the level info. Default: the console. */
  readonly logger?: Logger;
  /** Receives errors that are bugs. Default: logs them to standard error. */
  readonly onUnexpected?: (error: unknown) => void;
  /** For the metrics of runs. Absent: there are none. */
  readonly runHealth?: Pick<RunHealth, 'read'>;
}

/** Sizes in bytes, times in milliseconds. */
export interface HttpApiLimits {
  readonly maxBodyBytes: number;
  readonly maxJsonDepth: number;
  /** Objects, arrays and their entries in a body. */
  readonly maxJsonValues: number;
  /** Time without an event on a stream after which a comment is sent. */
  readonly keepAliveAfter: number;
  readonly maxConnectionTime: number;
  /** Time from the start of a model call within which it is retried. Longer pauses are left to the client. */
  readonly maxRetryTime: number;
  /** How long a shutdown waits for requests in progress. */
  readonly shutdownGrace: number;
  /**
   * Time without a sign of life after which a background response of another process has failed, unless the module's
   * recovery runs, which finds it within a lease.
   */
  readonly lostAfter: number;
}

export const DEFAULT_HTTP_LIMITS: HttpApiLimits = {
  maxBodyBytes: 32 * 1024 * 1024,
  maxJsonDepth: 72,
  maxJsonValues: 100_000,
  keepAliveAfter: 15_000,
  maxConnectionTime: 3_600_000,
  maxRetryTime: 5_000,
  shutdownGrace: 20_000,
  lostAfter: 30_000,
};

/** How long a cancelled request may take to end. */
const CANCEL_PATIENCE_MS = 10_000;
/** The same in a shutdown, which a supervisor does not wait for any longer. */
const SHUTDOWN_PATIENCE_MS = 2_000;

export interface HttpApi {
  /** What is offered over MCP, for other transports. Absent: nothing is. */
  readonly mcp?: McpServerPorts;
  readonly router: HttpRouter;
  /** Returns false for upgrades of other paths, and leaves their sockets alone. */
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  /** Ends the requests and WebSockets of an API token, unless it is valid. */
  checkToken(tokenId: string): Promise<void>;
  /** Cancels the user's requests, responses in the background and WebSockets. Resolves when they have ended. */
  cancelUser(userId: string): Promise<void>;
  /** The server is not ready from now on, and asks clients to connect anew, but goes on serving them. */
  startLeaving(): void;
  /**
   * Rejects new requests. Resolves when those in progress are done, or have been aborted after `shutdownGrace`.
   * @param hurry aborts them at once
   */
  close(hurry?: AbortSignal): Promise<void>;
}

export function createHttpApi(module: AIModule, ports: HttpApiPorts): HttpApi {
  const {
    access,
    secrets = [randomBytes(32)],
    runs,
    chats,
    dashboard,
    operations,
    changes,
    requestLog,
    corsOrigins = [],
    mcp: offer,
  } = ports;
  const limits = { ...DEFAULT_HTTP_LIMITS, ...ports.limits };
  const onUnexpected =
    ports.onUnexpected === undefined
      ? (error: unknown) => consoleLogger.error('A request failed unexpectedly:', error)
      : watching('onUnexpected', ports.onUnexpected, consoleLogger);
  const toError = (thrown: unknown): ReturnType<typeof toLLMError> => toLLMError(thrown, onUnexpected);
  const authFailures = ports.authFailures ?? new AuthFailureLimiter();
  const authenticate = authFailures.limit(async (request) => validPrincipal(await ports.authenticate(request)));
  const inFlight = new InFlightRequests();
  const metrics = new Metrics(
    () => module.manager.usage(),
    () => inFlight.size,
    ports.runHealth,
  );
  module.telemetry.metrics.addSink(metrics.sink);
  const conversations = new Conversations(ports.conversations ?? new MemoryResponseConversations());
  const service = new ResponseService({ manager: module.manager, conversations });
  const permitted = access === undefined ? {} : { access };
  const models = new ModelDirectory({ module, ...permitted });
  const closing = new AbortController();
  const summaries = new EncryptedSummaries(secrets);
  const logger = programLogger(ports.logger);
  const secret = secrets[0] ?? randomBytes(32);
  const mcpServers =
    offer &&
    createMcpServerPorts(module, offer, {
      ...{ runs, models, access, audit: ports.audit, storage: ports.storage, secret, toError, logger, inFlight },
      lostAfter: limits.lostAfter,
    });
  const mcp =
    mcpServers &&
    new McpHttp({
      ...mcpServers,
      registry: module.tools,
      isAlone: offer.keepsSessions ?? ports.isAlone ?? false,
      keepAliveAfter: limits.keepAliveAfter,
    });
  const shared = omitUndefined({
    module,
    authenticate,
    authFailures,
    inFlight,
    metrics,
    traceRequest: module.telemetry.traceRequest,
    traceMessage: module.telemetry.traceMessage,
    toError,
    service,
    conversations,
    models,
    summaries,
    vendorObjects: new VendorObjectGuard(module.sendGuard),
    background: new BackgroundResponses({
      service,
      store: module.responses,
      events: ports.responseEvents ?? new MemoryResponseEvents(),
      inFlight,
      toError,
      loop: module.loop,
      recovery: module.recovery,
      prepare: (body, principal) =>
        prepareResponse(body, principal, module.responses, { models, summaries, conversations }),
      isAlone: ports.isAlone ?? false,
      lostAfter: limits.lostAfter,
    }),
    store: module.responses,
    closing: closing.signal,
    runs,
    ...(runs?.live === undefined || chats === undefined
      ? {}
      : {
          streamedRuns: omitUndefined({
            stored: new StoredRuns(module),
            live: runs.live,
            tools: module.tools,
            watch: runs.watch,
          }),
          agUi: new AgUiRuns({ ...module, models, methods: runs.methods, ...permitted }),
          chat: new Chats({ ...module, models, methods: runs.methods, chats, logger, ...permitted }),
        }),
    dashboard,
    operations,
    changes,
    cors: corsOrigins.length === 0 ? undefined : allowOrigins(corsOrigins),
    isAlone: ports.isAlone ?? false,
    userLimiter: ports.userLimiter,
    storage: ports.storage,
    tokenRates: module.apiTokens?.rates,
    requestLog,
    audit: ports.audit,
    readiness: ports.readiness,
    forwardedCount: ports.forwardedCount ?? 0,
    logger,
    mcp:
      offer === undefined || mcp === undefined
        ? undefined
        : {
            ...{ mcp, rootUrl: offer.rootUrl, corsOrigins },
            access: offer.access,
          },
    ...limits,
  });
  const router = createRouter(ports.express);
  const { oauth, userLimiter } = ports;
  if (userLimiter !== undefined)
    router.use((_request, _response, next) => {
      userLimiter.countUnidentified(1);
      next();
    });
  // Other paths skip the OAuth routes. The lookahead matches no characters, so these routes see the whole path.
  if (oauth !== undefined) router.use(/^(?=\/(?:oauth|\.well-known\/oauth-authorization-server))/i, oauth);
  if (ports.servesPages === true) router.use(leavePages);
  router.use(useCanonicalPath);
  addApiRoutes(router, shared);
  const sockets = new ResponseSockets({ ...shared, basePaths: ports.basePaths ?? [''] });
  const openTokens = new OpenTokens({
    isValid: ports.isTokenValid ?? (() => Promise.resolve(undefined)),
    open: () => new Set([...inFlight.tokenIds, ...sockets.tokenIds]),
    end: (tokenId) => {
      sockets.closeToken(tokenId);
      inFlight.cancelToken(tokenId);
    },
    logger: shared.logger,
  });
  const endSession = (sessionId: string): void => {
    sockets.closeSession(sessionId);
    inFlight.cancelSession(sessionId);
  };
  dashboard?.sessions.onEnded(endSession);
  const openSessions =
    dashboard === undefined
      ? undefined
      : new OpenSessions({
          endedAmong: (sessionIds) => dashboard.sessions.endedAmong(sessionIds),
          open: () => new Set([...inFlight.sessionIds, ...sockets.sessionIds]),
          end: endSession,
          logger: shared.logger,
        });
  return omitUndefined({
    router,
    mcp: mcpServers,
    checkToken: (tokenId) => openTokens.check(tokenId),
    handleUpgrade: (request, socket, head) => sockets.handleUpgrade(request, socket, head),
    cancelUser: async (userId) => {
      sockets.closeUser(userId);
      await mcp?.endUser(userId);
      await inFlight.cancelUser(userId, CANCEL_PATIENCE_MS);
    },
    startLeaving: () => inFlight.startLeaving(),
    close: async (hurry) => {
      const onAborted = (routes: readonly string[]): void => {
        const when = hurry?.aborted === true ? 'by a hurried shutdown' : `after ${limits.shutdownGrace} ms of shutdown`;
        shared.logger.warn(`Requests were aborted ${when}: ${routes.join(', ')}.`);
      };
      const idle = inFlight.close(limits.shutdownGrace, SHUTDOWN_PATIENCE_MS, onAborted, hurry);
      closing.abort();
      openTokens.close();
      openSessions?.close();
      sockets.close();
      await idle;
      await mcpServers?.toolTasks?.close();
      await mcp?.close();
    },
  });
}
