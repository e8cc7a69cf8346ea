/** The API's table of routes. */
import type { HttpHandler } from './http/HttpMessages';
import type { HttpRouter } from './http/createRouter';
import type { Logger } from '../business/ai/domain/interfaces/Logger';
import type { UserLimiter } from '../business/limits/application/UserLimiter';
import type { AuditRecorder } from '../business/ai/domain/interfaces/AuditRecorder';
import { addAuditExport } from '../business/audit/api/addAuditExport';
import type { ListEntries } from '../business/audit/api/addAuditExport';
import { exportUserData } from '../business/privacy/api/exportUserData';
import { receiveInput, streamOutput } from './conversations/conversationRoutes';
import type { ConversationRoutePorts } from './conversations/conversationRoutes';
import type { AgUiRuns } from './agUi/AgUiRuns';
import { addAgUiRoutes } from './agUi/agUiRoutes';
import { addChatRoutes } from './chat/addChatRoutes';
import type { Chats } from './chat/Chats';
import { addMcpRoutes } from '../business/mcp/api/addMcpRoutes';
import type { McpRoutePorts } from '../business/mcp/api/addMcpRoutes';
import type { FollowRunPorts } from './chat/followRun';
import { addRunRoutes } from './runs/runRoutes';
import type { RunRoutesPorts } from './runs/runRoutes';
import { addDashboardRoutes } from './dashboard/addDashboardRoutes';
import type { DashboardRoutePorts } from './dashboard/addDashboardRoutes';
import { readReadiness } from './health/readReadiness';
import type { ReadinessPorts } from './health/readReadiness';
import { HttpError } from './http/HttpError';
import { handleGeneration } from './gateway/generation/handleGeneration';
import type { GenerationPorts } from './gateway/generation/handleGeneration';
import { AZURE_CHAT_PATH, chatCompletionsApi } from './gateway/generation/chatCompletionsApi';
import { GEMINI_COUNT_PATH, GEMINI_PATH, geminiApi } from './gateway/generation/geminiApi';
import { messagesApi } from './gateway/generation/messagesApi';
import { countResponseTokens, countTokens } from './gateway/tokens/countTokens';
import type { CountingPorts } from './gateway/tokens/countTokens';
import { PAGE_PATHS, serveNotFound, servePage } from './dashboard/dashboardPages';
import { VENDOR_PATHS } from './http/apiOfPath';
import { addOperationRoutes } from './http/addOperationRoutes';
import type { ServedOperations } from './http/addOperationRoutes';
import { createRoute } from './http/createRoute';
import { handleLastError } from './http/handleLastError';
import type { RouteOptions, RoutePorts } from './http/createRoute';
import type { AddEndpoint } from './http/Endpoint';
import { addEmbeddingRoutes } from './gateway/embeddings/addEmbeddingRoutes';
import { addMediaRoutes } from './gateway/relay/mediaRoutes';
import { addRelayRoutes } from './gateway/relay/relayRoutes';
import type { RelayRoutePorts } from './gateway/relay/relayRoutes';
import { isNavigation, useMovedPath } from './http/movedPaths';
import { serveOpenApi } from './openapi/serveOpenApi';
import type { RegisteredRoute } from './openapi/openApiDocument';
import { jsonBody } from './http/jsonBody';
import type { JsonBodyLimits } from './http/jsonBody';
import { listModels, modelsApiOf, readModel } from './gateway/models/modelsRoutes';
import { addConversationRoutes } from './gateway/conversations/conversationRoutes';
import { compactResponse } from './gateway/responses/compactResponse';
import type { CompactionPorts } from './gateway/responses/compactResponse';
import {
  cancelResponse,
  createResponse,
  deleteResponse,
  listInputItems,
  readResponse,
} from './gateway/responses/responsesRoutes';
import { UNSERVED_GROUPS } from './gateway/unservedGroups';
import type { VendorObjectGuard } from './gateway/VendorObjectGuard';
import type { ResponsesPorts } from './gateway/responses/responsesRoutes';

export interface ApiRoutePorts extends RoutePorts, JsonBodyLimits, DashboardRoutePorts, RunRoutesPorts {
  readonly module: CompactionPorts['module'] &
    CountingPorts['module'] &
    GenerationPorts['module'] &
    ResponsesPorts['module'] &
    RelayRoutePorts['module'] &
    ConversationRoutePorts['module'];
  readonly userLimiter?: UserLimiter;
  readonly maxRetryTime: number;
  readonly logger: Logger;
  readonly models: ResponsesPorts['models'];
  readonly service: ResponsesPorts['service'];
  readonly background: ResponsesPorts['background'];
  readonly summaries: ResponsesPorts['summaries'];
  readonly vendorObjects: VendorObjectGuard;
  readonly conversations: ResponsesPorts['conversations'];
  readonly operations?: ServedOperations;
  readonly audit?: AuditRecorder;
  readonly readiness?: ReadinessPorts;
  /** What streams of runs need. */
  readonly streamedRuns?: FollowRunPorts;
  readonly chat?: Chats;
  readonly agUi?: AgUiRuns;
  readonly mcp?: Pick<McpRoutePorts, 'access' | 'corsOrigins' | 'mcp' | 'rootUrl'>;
  /** Lets pages of other origins call the routes. */
  readonly cors?: HttpHandler;
}

/** What responds in its own way. */
const NO_OPERATIONS: ServedOperations = { definitions: [], bound: {} };
const HANDLERS = { 'ai.users.exportData': exportUserData } as const;

export function addApiRoutes(router: HttpRouter, ports: ApiRoutePorts): void {
  const { cors, dashboard } = ports;
  const registered: RegisteredRoute[] = [];
  const add: AddEndpoint = (api, path, name, ...endpoints) => {
    if (cors !== undefined && !endpoints.some(({ isOwnPage }) => isOwnPage)) router.all(path, cors);
    for (const endpoint of endpoints) {
      const { method, handler, readsBody = method === 'post' && !name.endsWith('/cancel'), ...options } = endpoint;
      // Who has reached a limit must be able to end what counts.
      const holds = method === 'delete' || /\/(?:cancel|stop)$/.test(name) ? { holds: 'nothing' as const } : {};
      const route = { api, name: `${method.toUpperCase()} ${name}`, ...holds, ...options };
      const { maxBodyBytes = ports.maxBodyBytes, maxJsonValues = 0 } = endpoint;
      const limits = {
        maxBodyBytes,
        maxJsonDepth: ports.maxJsonDepth,
        maxJsonValues: Math.max(ports.maxJsonValues, maxJsonValues),
      };
      router[method](path, createRoute(ports, route, readsBody ? jsonBody(limits) : undefined, handler));
      const { scope, isOwnPage, describe } = endpoint;
      if (isOwnPage === undefined)
        registered.push({
          method,
          name,
          api: typeof api === 'string' ? api : undefined,
          scope,
          describe,
        });
    }
    const allowed = endpoints.map(({ method }) => method.toUpperCase()).join(', ');
    router.all(
      path,
      refusal(
        api,
        `other ${name}`,
        ({ method }) =>
          new HttpError(405, `Method ${method} is not allowed here. Allowed: ${allowed}.`, {
            headers: { allow: allowed },
          }),
      ),
    );
  };
  const refusal = (
    api: RouteOptions['api'],
    name: string,
    error: (request: { readonly method: string; readonly path: string }) => HttpError,
  ): HttpHandler =>
    createRoute(ports, { api, name }, undefined, ({ request }) =>
      Promise.reject(error({ method: request.method, path: request.baseUrl + request.path })),
    );
  /** Browsers that open an unknown path get a page. */
  const notFound = (api: RouteOptions['api'], name: string): HttpHandler => {
    const refuse = createRoute(ports, { api, name }, undefined, ({ request, response }) => {
      const path = request.baseUrl + request.path;
      if (dashboard === undefined || !isNavigation(request))
        return Promise.reject(new HttpError(404, `Not found: ${request.method} ${path.slice(0, 200)}.`));
      serveNotFound(dashboard, response);
      return Promise.resolve();
    });
    if (cors === undefined) return refuse;
    return (request, response, next) => {
      cors(request, response, () => refuse(request, response, next));
    };
  };

  // The router compares a path with one route after another, so the busiest come first.
  add('chat_completions', '/v1/chat/completions', '/v1/chat/completions', {
    method: 'post',
    scope: 'generate',
    handler: handleGeneration(chatCompletionsApi, ports),
    isLogged: true,
  });
  add('anthropic_messages', '/v1/messages', '/v1/messages', {
    method: 'post',
    scope: 'generate',
    handler: handleGeneration(messagesApi, ports),
    isLogged: true,
  });

  add('responses', '/v1/responses', '/v1/responses', {
    method: 'post',
    scope: 'generate',
    handler: createResponse(ports),
    isLogged: true,
  });

  add('responses', '/health', '/health', {
    method: 'get',
    answersWhileClosing: true,
    handler: ({ response }) => Promise.resolve(void response.json({ status: 'ok' })),
  });
  add('app', '/ready', '/ready', {
    method: 'get',
    handler: readReadiness({ isLeaving: () => ports.inFlight.isLeaving, ...ports.readiness }),
  });
  add('responses', '/metrics', '/metrics', {
    method: 'get',
    scope: 'admin',
    handler: async ({ response }) => {
      const { contentType, body } = await ports.metrics.text();
      response.set('content-type', contentType).send(body);
    },
  });
  add('app', '/openapi.json', '/openapi.json', { method: 'get', handler: serveOpenApi(registered) });

  add('responses', '/v1/responses/input_tokens', '/v1/responses/input_tokens', {
    method: 'post',
    scope: 'generate',
    handler: countResponseTokens(ports),
  });
  add('responses', '/v1/responses/compact', '/v1/responses/compact', {
    method: 'post',
    scope: 'generate',
    handler: compactResponse(ports),
    isLogged: true,
  });
  add(
    'responses',
    '/v1/responses/:id',
    '/v1/responses/:id',
    { method: 'get', scope: 'read', handler: readResponse(ports) },
    { method: 'delete', scope: 'generate', handler: deleteResponse(ports) },
  );
  add('responses', '/v1/responses/:id/input_items', '/v1/responses/:id/input_items', {
    method: 'get',
    scope: 'read',
    handler: listInputItems(ports),
  });
  add('responses', '/v1/responses/:id/cancel', '/v1/responses/:id/cancel', {
    method: 'post',
    scope: 'generate',
    handler: cancelResponse(ports),
  });

  addConversationRoutes(add, ports);

  add('chat_completions', AZURE_CHAT_PATH, AZURE_CHAT_PATH, {
    method: 'post',
    scope: 'generate',
    handler: handleGeneration(chatCompletionsApi, ports),
    isLogged: true,
  });
  add('anthropic_messages', '/v1/messages/count_tokens', '/v1/messages/count_tokens', {
    method: 'post',
    scope: 'generate',
    handler: countTokens(messagesApi, ports, (input_tokens) => ({ input_tokens })),
  });
  add('gemini', GEMINI_COUNT_PATH, '/v1beta/models/:model:countTokens', {
    method: 'post',
    scope: 'generate',
    handler: countTokens(geminiApi, ports, (totalTokens) => ({ totalTokens })),
  });
  add('gemini', GEMINI_PATH, '/v1beta/models/:model', {
    method: 'post',
    scope: 'generate',
    handler: handleGeneration(geminiApi, ports),
    isLogged: true,
  });

  addEmbeddingRoutes(add, ports);
  addRelayRoutes(add, ports);
  addMediaRoutes(add, ports);

  add(modelsApiOf, '/v1/models', '/v1/models', {
    method: 'get',
    scope: 'read',
    handler: listModels(ports.models),
  });
  add(modelsApiOf, /^\/v1\/models\/(?<id>.+)$/, '/v1/models/:id', {
    method: 'get',
    scope: 'read',
    handler: readModel(ports.models),
  });
  add('gemini', /^\/v1(?:beta|alpha)\/models$/, '/v1beta/models', {
    method: 'get',
    scope: 'read',
    handler: listModels(ports.models, () => 'gemini'),
  });
  // A tag after a colon, such as `:free`, is part of the name; verbs are in camel case.
  add('gemini', /^\/v1(?:beta|alpha)\/models\/(?<id>[^:]+(?::[a-z\d.-]+)?)$/, '/v1beta/models/:id', {
    method: 'get',
    scope: 'read',
    handler: readModel(ports.models, () => 'gemini'),
  });

  if (dashboard !== undefined) {
    const serve = createRoute(ports, { api: 'app', name: 'GET /' }, undefined, servePage(dashboard));
    router.use(PAGE_PATHS, (request, response, next) => {
      if (isNavigation(request)) serve(request, response, next);
      else next();
    });
  }
  router.use(useMovedPath);

  add('responses', '/api/input', '/api/input', {
    method: 'post',
    scope: 'generate',
    handler: receiveInput(ports),
  });
  add('responses', '/api/output/stream', '/api/output/stream', {
    method: 'get',
    scope: 'read',
    handler: streamOutput(ports),
    holds: 'connections',
  });

  addRunRoutes(add, ports);
  const { operations = NO_OPERATIONS } = ports;
  // The definition of the operation types its result.
  addAuditExport(add, operations.bound['ai.audit.list'] as ListEntries | undefined, ports.audit);
  const operationPaths = addOperationRoutes(add, operations, HANDLERS);

  const { chat, agUi, streamedRuns } = ports;
  if (chat !== undefined && streamedRuns !== undefined) {
    const { keepAliveAfter, maxConnectionTime, closing, toError } = ports;
    const streaming = { ...streamedRuns, keepAliveAfter, maxConnectionTime, closing, toError };
    for (const path of addChatRoutes(add, { ...streaming, chat })) router.use(path, notFound('ai_sdk', 'unknown'));
    if (agUi !== undefined)
      for (const path of addAgUiRoutes(add, { ...streaming, agUi })) router.use(path, notFound('app', 'unknown'));
  }

  const { mcp } = ports;
  if (mcp !== undefined) addMcpRoutes(add, { ...ports, ...mcp });

  addDashboardRoutes(add, ports);
  for (const path of new Set(operationPaths)) router.use(path, notFound('app', 'unknown'));

  for (const { api, paths, message } of UNSERVED_GROUPS) {
    const refuse = refusal(api, 'unserved', () => new HttpError(501, message));
    for (const path of paths) router.use(path, ...(cors === undefined ? [] : [cors]), refuse);
  }
  for (const [path, api] of VENDOR_PATHS) router.use(path, notFound(api, 'unknown'));
  // A host that serves the dashboard has no other pages.
  if (dashboard !== undefined) router.use(notFound('app', 'unknown'));
  router.use(handleLastError(ports));
}
