/**
 * What every route does around its handler: who asks, may they, count, abort when they leave, errors in the API's
 * words.
 */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Request, RequestHandler, Response } from 'express';
import {
  LLMAbortedError,
  LLMAuthError,
  LLMOverloadedError,
  LLMPermissionError,
} from '../../business/ai/domain/errors/LLMErrors';
import type { LLMError } from '../../business/ai/domain/errors/LLMErrors';
import { mayDo } from '../auth/ApiPrincipal';
import type { ApiPrincipal, Scope } from '../auth/ApiPrincipal';
import { errorResponse, requestIdHeaders } from './errorResponse';
import type { ApiName } from './errorResponse';
import type { RequestContext, ExchangeFacts, ExchangeHandler } from './RequestContext';
import type { InFlightRequests } from './InFlightRequests';
import type { Metrics } from './Metrics';

export interface RoutePorts {
  readonly authenticate: (request: IncomingMessage) => Promise<ApiPrincipal | undefined> | ApiPrincipal | undefined;
  readonly inFlight: InFlightRequests;
  readonly metrics: Metrics;
  readonly toError: (thrown: unknown) => LLMError;
}

export interface RouteFacts {
  /** The API whose shape errors have. */
  readonly api: ApiName;
  /** As it stands in metrics. */
  readonly name: string;
  /** What the caller's token must hold. Absent: nobody is asked who they are. */
  readonly scope?: Scope;
}

/** @returns middlewares: the door before the body is read, then the handler */
export function createRoute(
  ports: RoutePorts,
  facts: RouteFacts,
  readBody: RequestHandler | undefined,
  handler: ExchangeHandler,
): RequestHandler {
  return (request, response) => {
    const exchange = beginExchange(ports, facts, request, response);
    run(exchange).catch((thrown: unknown) => refuse(exchange, thrown));
  };

  async function run(exchange: OpenExchange): Promise<void> {
    if (ports.inFlight.isClosing) throw new LLMOverloadedError('The server is shutting down.');
    const actor = facts.scope === undefined ? NOBODY : await authorize(ports, exchange.request, facts.scope);
    if (readBody !== undefined) await runMiddleware(readBody, exchange);
    await handler({ ...exchange, actor });
  }

  function refuse({ response, requestId, hasLeft, facts: { isSameApi = false } }: OpenExchange, thrown: unknown): void {
    if (hasLeft()) return;
    const { status, body, headers } = errorResponse(ports.toError(thrown), { api: facts.api, requestId, isSameApi });
    if (response.headersSent) {
      // A body that was begun can't turn into an error: cutting it is the only way to say that it isn't whole.
      response.destroy();
      return;
    }
    response.set(headers).status(status).json(body);
  }
}

const NOBODY: ApiPrincipal = { userId: '', scopes: [] };

/**
 * @throws LLMAuthError for a token that is missing or unknown, LLMPermissionError for one that does not hold the
 * scope
 */
export async function authorize(
  { authenticate }: Pick<RoutePorts, 'authenticate'>,
  request: IncomingMessage,
  scope: Scope,
): Promise<ApiPrincipal> {
  const actor = await authenticate(request);
  if (actor === undefined) throw new LLMAuthError(NO_TOKEN);
  if (!mayDo(actor, scope)) throw new LLMPermissionError(`Your token does not hold the scope '${scope}'.`);
  return actor;
}

const NO_TOKEN = 'A valid API token is needed: as a bearer token, in x-api-key or in x-goog-api-key.';

type OpenExchange = Omit<RequestContext, 'actor'>;

function beginExchange(ports: RoutePorts, { name }: RouteFacts, request: Request, response: Response): OpenExchange {
  const { inFlight, metrics } = ports;
  const startedAt = performance.now();
  const requestId = `req_${randomBytes(12).toString('hex')}`;
  const controller = new AbortController();
  const facts: ExchangeFacts = {};
  let left = false;
  response.set(requestIdHeaders(requestId));
  if (inFlight.isClosing) response.set('connection', 'close');
  else inFlight.enter(controller);
  response.once('close', () => {
    left = !response.writableFinished;
    if (left) controller.abort(new LLMAbortedError('the client left'));
    inFlight.leave(controller);
    // 499 is what proxies write down for clients that left.
    const status = left && !response.headersSent ? 499 : response.statusCode;
    metrics.count({
      route: name,
      provider: facts.provider ?? '',
      status,
      seconds: (performance.now() - startedAt) / 1_000,
    });
  });
  return { request, response, signal: controller.signal, hasLeft: () => left, requestId, facts };
}

/**
 * @throws what the middleware passes on, and the signal's reason: a body that never comes must not keep a server
 * from stopping
 */
function runMiddleware(middleware: RequestHandler, { request, response, signal }: OpenExchange): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    const next = (failed?: unknown): void => {
      if (failed === undefined) resolve();
      else reject(failed instanceof Error ? failed : new Error('a middleware failed without an error'));
    };
    void middleware(request, response, next);
  });
}
