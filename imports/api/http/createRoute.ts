/** Wraps a handler with what every route needs: authentication, scope check, metrics, cancellation, error responses. */
import type { IncomingMessage } from 'node:http';
import type { HttpHandler, HttpRequest, HttpResponse } from './HttpMessages';
import {
  LLMAbortedError,
  LLMAuthError,
  LLMOverloadedError,
  LLMPermissionError,
} from '../../business/ai/domain/errors/LLMErrors';
import type { LLMError } from '../../business/ai/domain/errors/LLMErrors';
import type { UserStorage } from '../../business/ai/domain/interfaces/UserStorage';
import type { UserLimiter } from '../../business/limits/application/UserLimiter';
import type { AuditRecorder } from '../../business/ai/domain/interfaces/AuditRecorder';
import { jsonBytes } from '../../business/ai/domain/util/jsonBytes';
import { withLogIds } from '../../business/ai/application/services/shared/logIds';
import type { Telemetry } from '../../business/ai/infrastructure/telemetry/Telemetry';
import { hasScope, toActor } from '../auth/ApiPrincipal';
import { clientOf } from '../auth/clientOf';
import type { RequestLog } from '../../business/requestLog/domain/RequestLog';
import type { ApiPrincipal, Scope } from '../auth/ApiPrincipal';
import { beginRequest } from './beginRequest';
import type { RequestLimiters } from './beginRequest';
import { discardBody } from './discardBody';
import { errorResponse, requestIdHeaders } from './errorResponse';
import type { ApiName } from './errorResponse';
import { createRequestId } from './requestId';
import { rateLimitHeaders } from './rateLimitHeaders';
import { refusedRequest } from './refusedRequest';
import type { RequestContext, RequestDetails, RouteHandler } from './RequestContext';
import type { InFlightRequests } from './InFlightRequests';
import type { Metrics } from './Metrics';

export interface RoutePorts extends Pick<RequestLimiters, 'tokenRates'> {
  readonly authenticate: (request: IncomingMessage) => Promise<ApiPrincipal | undefined> | ApiPrincipal | undefined;
  readonly inFlight: InFlightRequests;
  readonly metrics: Metrics;
  /** Does the work of a request within a span. Absent: requests are not traced. */
  readonly traceRequest?: Telemetry['traceRequest'];
  readonly toError: (thrown: unknown) => LLMError;
  readonly requestLog?: Pick<RequestLog, 'add'>;
  /** Keeps callers within their limits. Absent: they have none. */
  readonly userLimiter?: Pick<UserLimiter, 'begin' | 'countUnidentified'>;
  /** What users may store. Absent: as much as they like. */
  readonly storage?: Pick<UserStorage, 'admit'>;
  /** Learns of tokens without the scope of a route. */
  readonly audit?: Pick<AuditRecorder, 'report'>;
  /** How many proxies in front of the server append to `x-forwarded-for`. */
  readonly forwardedCount: number;
  /** The most bytes of a request's body. */
  readonly maxBodyBytes: number;
}

export type Held = 'calls' | 'connections' | 'nothing';

export interface RouteOptions {
  /** The API whose shape errors have; where several APIs share a path, the request tells which. */
  readonly api: ApiName | ((request: HttpRequest) => ApiName);
  /** The route's name in metrics. */
  readonly name: string;
  /** The scope that the caller needs. Absent: the route is public. */
  readonly scope?: Scope;
  /** What a request holds of its caller's limits until its response is complete. Default: a call. */
  readonly holds?: Held | ((request: HttpRequest) => Held);
  /** The body is stored, and counts towards the caller's storage. */
  readonly stores?: true;
  /** Continues while the data of its user is deleted. */
  readonly isUncancellable?: true;
  /** Requests that fail before they call a model are entries of the request log. */
  readonly isLogged?: true;
  /** The API that such an entry names. Default: that of the route. */
  readonly loggedApi?: string;
  /** Answers while the server shuts down, too. */
  readonly answersWhileClosing?: true;
  /** Refuses requests by their headers, before the body is read. @throws what the client gets */
  readonly admit?: (request: HttpRequest) => void;
  /** Authenticates its callers. Default: as on every route. */
  readonly authenticate?: RoutePorts['authenticate'];
  /** The header `www-authenticate` for a caller without a valid token, or without the scope. */
  readonly challenge?: (error: LLMError) => string | undefined;
}

/** The caller is authenticated, and its request admitted, before the body is read. */
export function createRoute(
  ports: RoutePorts,
  route: RouteOptions,
  readBody: HttpHandler | undefined,
  handler: RouteHandler,
): HttpHandler {
  return (request, response) => {
    const handle = (): void => {
      const context = openContext(ports, route, request, response);
      withLogIds({ request: context.requestId }, () => {
        run(context).catch((thrown: unknown) => refuse(context, thrown));
      });
    };
    if (ports.traceRequest === undefined) handle();
    else ports.traceRequest({ request, response, route: route.name }, handle);
  };

  async function run(context: PendingContext): Promise<void> {
    context.signal.throwIfAborted();
    if (ports.inFlight.isLeaving && !context.response.headersSent)
      // The next request of this client is to reach another process.
      context.response.set('connection', 'close');
    if (ports.inFlight.isClosing && route.answersWhileClosing !== true)
      throw new LLMOverloadedError('The server is shutting down.');
    const principal = route.scope === undefined ? ANONYMOUS : await identify(context.request, route.scope);
    context.isAuthorized = route.scope !== undefined;
    if (route.scope !== undefined) await countRequest(context, principal);
    route.admit?.(context.request);
    // Routes without a scope read a body only if they ask for one.
    if (route.scope === undefined && readBody === undefined) discardBody(context.request);
    if (route.isUncancellable !== true) ports.inFlight.identify(context.controller, principal);
    try {
      if (readBody !== undefined) await runMiddleware(readBody, context);
      if (route.stores === true) await handleStored({ ...context, principal });
      else await handler({ ...context, principal });
    } catch (thrown) {
      const error = ports.toError(thrown);
      const { details, hasLeft } = context;
      if (route.isLogged === true && details.isCalled !== true && !hasLeft())
        ports.requestLog?.add(
          refusedRequest(error, {
            ...context,
            principal,
            api: apiOf(route, context.request),
            loggedApi: route.loggedApi,
          }),
        );
      throw error;
    }
  }

  /** @throws StorageFullError */
  async function handleStored(context: RequestContext): Promise<void> {
    const { principal, request } = context;
    const stored = await ports.storage?.admit(principal.userId, bytesOf(request));
    try {
      await handler(context);
    } finally {
      stored?.();
    }
  }

  /** @throws as `beginRequest` does */
  async function countRequest(context: PendingContext, principal: ApiPrincipal): Promise<void> {
    const { request, response, signal, details } = context;
    ports.userLimiter?.countUnidentified(-1);
    const end = await beginRequest(ports, principal, {
      holds: (typeof route.holds === 'function' ? route.holds(request) : route.holds) ?? 'calls',
      bytes: Number(request.headers['content-length'] ?? 0),
      signal,
      onRateLimits: (state) => {
        details.rateLimits = state;
        if (!response.headersSent) response.set(rateLimitHeaders(apiOf(route, request), state));
      },
    });
    if (response.closed) end(details.continues);
    else response.once('close', () => end(details.continues));
  }

  /** @throws as `authorize` does */
  async function identify(request: IncomingMessage, scope: Scope): Promise<ApiPrincipal> {
    const onLacking = (principal: ApiPrincipal): void => {
      const actor = toActor({ ...principal, client: clientOf(request, ports.forwardedCount) });
      const act = { action: 'access.refuse', subject: { kind: 'route', id: route.name }, details: { scope } } as const;
      ports.audit?.report(actor, act, 'permission-denied', `${principal.userId} ${principal.token?.id ?? ''}`);
    };
    const { authenticate = ports.authenticate } = route;
    const principal = await authorize({ authenticate }, request, scope, onLacking);
    // Calls of models are the many; they are in the request log.
    return route.isLogged === true ? principal : { ...principal, client: clientOf(request, ports.forwardedCount) };
  }

  function refuse(context: PendingContext, thrown: unknown): void {
    const { request, response, requestId, details } = context;
    if (context.hasLeft()) return;
    const error = ports.toError(thrown);
    const api = apiOf(route, request);
    const { status, body, headers } = errorResponse(error, { ...details, api, requestId });
    if (response.headersSent) {
      // A started body can't turn into an error response; cutting the connection shows that it is incomplete.
      response.destroy();
      return;
    }
    response.set(headers).status(status);
    const challenge = context.isAuthorized ? undefined : route.challenge?.(error);
    if (challenge !== undefined) response.set('www-authenticate', challenge);
    discardBody(request, context.isAuthorized ? ports.maxBodyBytes : undefined);
    // `useChat` shows people the body as it is.
    if (api === 'ai_sdk') response.set('content-type', 'text/plain; charset=utf-8').send(error.message);
    else response.json(body);
  }
}

/** Returns the length of the decompressed body. */
function bytesOf({
  headers: { 'content-length': length, 'content-encoding': encoding = 'identity' },
  body,
}: HttpRequest) {
  return length === undefined || encoding !== 'identity' ? jsonBytes(body) : Number(length);
}

function apiOf({ api }: RouteOptions, request: HttpRequest): ApiName {
  return typeof api === 'function' ? api(request) : api;
}

const ANONYMOUS: ApiPrincipal = { userId: '', scopes: [] };

/**
 * @param onLacking learns of a caller without the scope
 * @throws LLMAuthError for a missing or unknown token, LLMPermissionError for one without the scope
 */
export async function authorize(
  { authenticate }: Pick<RoutePorts, 'authenticate'>,
  request: IncomingMessage,
  scope: Scope,
  onLacking?: (principal: ApiPrincipal) => void,
): Promise<ApiPrincipal> {
  const principal = await authenticate(request);
  if (principal === undefined) throw new LLMAuthError(NO_TOKEN);
  if (!hasScope(principal, scope)) {
    onLacking?.(principal);
    throw new LLMPermissionError(`Your token lacks the scope "${scope}".`);
  }
  return principal;
}

const NO_TOKEN =
  'A valid API token is required. Send it as a bearer token, in x-api-key, in x-goog-api-key or in api-key.';

/**
 * Default headers of all responses: caches don't store them, and browsers keep to the stated type and run nothing of
 * them. Users choose the content of files, and the dashboard has the same origin. Its pages have a policy of their own.
 * https://www.w3.org/TR/CSP3/#directive-sandbox
 */
const PRIVATE_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'x-content-type-options': 'nosniff',
};

type PendingContext = Omit<RequestContext, 'principal'> & {
  readonly controller: AbortController;
  isAuthorized: boolean;
};

function openContext(
  ports: RoutePorts,
  { name }: RouteOptions,
  request: HttpRequest,
  response: HttpResponse,
): PendingContext {
  const { inFlight, metrics } = ports;
  const startedAt = performance.now();
  const requestId = createRequestId();
  const controller = new AbortController();
  const details: RequestDetails = {};
  let left = false;
  response.set({ ...requestIdHeaders(requestId), ...PRIVATE_HEADERS });
  if (inFlight.isLeaving) response.set('connection', 'close');
  if (!inFlight.isClosing) inFlight.enter(controller, { route: name });
  const onClose = (): void => {
    left = !response.writableFinished;
    if (left) controller.abort(new LLMAbortedError('The client disconnected.'));
    inFlight.leave(controller);
    // Proxies log 499 for clients that disconnected.
    const status = left && !response.headersSent ? 499 : response.statusCode;
    metrics.record({
      route: name,
      provider: details.provider ?? '',
      status,
      seconds: (performance.now() - startedAt) / 1_000,
    });
  };
  // The app's own middleware may have taken longer than the client waited.
  if (response.closed) onClose();
  else response.once('close', onClose);
  return {
    request,
    response,
    signal: controller.signal,
    hasLeft: () => left,
    requestId,
    startedAt,
    details,
    controller,
    isAuthorized: false,
  };
}

/** @throws the middleware's error, or the signal's reason: a body that never arrives must not block a shutdown */
function runMiddleware(middleware: HttpHandler, { request, response, signal }: PendingContext): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    const next = (failed?: unknown): void => {
      if (failed === undefined) resolve();
      else reject(failed instanceof Error ? failed : new Error('A middleware failed without an Error.'));
    };
    middleware(request, response, next);
  });
}
