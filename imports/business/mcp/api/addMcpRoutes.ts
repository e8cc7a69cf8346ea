/** `/mcp`: the server's tools over MCP. */
import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import type { HttpRequest, HttpResponse } from '../../../api/http/HttpMessages';
import { LLMPermissionError } from '../../ai/domain/errors/LLMErrors';
import type { LLMError } from '../../ai/domain/errors/LLMErrors';
import { fieldsOf } from '../../ai/domain/util/json';
import { omitUndefined } from '../../ai/domain/util/omitUndefined';
import type { ApiPrincipal, Scope } from '../../../api/auth/ApiPrincipal';
import type { AuthFailureLimiter } from '../../../api/auth/AuthFailureLimiter';
import { assertKnownHost, assertSameOrigin } from '../../../api/dashboard/sameOrigin';
import type { AddEndpoint } from '../../../api/http/Endpoint';
import type { RoutePorts } from '../../../api/http/createRoute';
import { HttpError } from '../../../api/http/HttpError';
import type { RouteHandler } from '../../../api/http/RequestContext';
import { STREAM_HEADERS } from '../../../api/http/ResponseSink';
import { toMcpCaller } from './McpCaller';
import type { McpHttp } from './McpHttp';

type Authenticate = RoutePorts['authenticate'];

/** Access with tokens of an authorization server. */
export interface McpAccess {
  readonly issuer: string;
  /** What clients call the server in front of people. Default: Bolide. */
  readonly resourceName?: string;
  /** Whether a token is of this server's kind. Those of other kinds are authenticated as on every route. */
  accepts(token: string): boolean;
  /** What clients are to ask for. Default: the scope that calls need. */
  readonly scopes?: readonly Scope[];
  /** @returns undefined for a token that is not valid here, among them those for other servers */
  verify(token: string): Promise<ApiPrincipal | undefined>;
}

export interface McpRoutePorts {
  readonly mcp: Pick<McpHttp, 'handle'>;
  /** Where clients reach the API. */
  readonly rootUrl: string;
  readonly access?: McpAccess | undefined;
  /** Authenticates as on every route. */
  readonly authenticate: Authenticate;
  /** Limits requests with invalid tokens. */
  readonly authFailures: Pick<AuthFailureLimiter, 'limit'>;
  /** Origins whose pages may call the API. */
  readonly corsOrigins: readonly string[];
  /** Milliseconds after which a stream of changes ends, so that the client must authenticate again. */
  readonly maxConnectionTime: number;
  /** Fires when the server stops, since streams of changes would otherwise never end. */
  readonly closing: AbortSignal;
}

export const MCP_PATH = '/mcp';
/** https://www.rfc-editor.org/rfc/rfc9728#section-3.1 */
const METADATA_PATH = '/.well-known/oauth-protected-resource';
const SCOPE: Scope = 'generate';
const LISTEN = 'subscriptions/listen';

export function addMcpRoutes(add: AddEndpoint, ports: McpRoutePorts): void {
  const { rootUrl, access } = ports;
  const metadata: RouteHandler = ({ response }) => {
    response.json({
      resource: rootUrl + MCP_PATH,
      resource_name: access?.resourceName ?? 'Bolide',
      ...omitUndefined({ authorization_servers: access && [access.issuer] }),
      scopes_supported: ['generate', 'read', 'approve'],
      bearer_methods_supported: ['header'],
    });
    return Promise.resolve();
  };
  for (const path of [METADATA_PATH, METADATA_PATH + MCP_PATH])
    add('app', path, path, { method: 'get', handler: metadata });
  const shared = omitUndefined({
    scope: SCOPE,
    authenticate: access && acceptingTokensOf(access, ports),
    admit: (request: HttpRequest) => assertPermittedOrigin(request, ports),
    challenge: (error: LLMError) =>
      challengeOf(error, rootUrl + METADATA_PATH + MCP_PATH, (access?.scopes ?? [SCOPE]).join(' ')),
    handler: serve(ports),
  });
  add(
    'mcp',
    MCP_PATH,
    MCP_PATH,
    { method: 'post', ...shared, holds: (request) => (isListening(request) ? 'connections' : 'calls') },
    { method: 'get', ...shared, holds: 'connections' },
    { method: 'delete', ...shared },
  );
}

function acceptingTokensOf(access: McpAccess, { authenticate, authFailures }: McpRoutePorts): Authenticate {
  const limited = authFailures.limit(({ headers }) => access.verify(bearerIn(headers) ?? ''));
  return (request) => {
    const token = bearerIn(request.headers);
    return token !== undefined && access.accepts(token) ? limited(request) : authenticate(request);
  };
}

function bearerIn({ authorization = '' }: IncomingHttpHeaders): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
}

function serve({ mcp, rootUrl, maxConnectionTime, closing }: McpRoutePorts): RouteHandler {
  return async ({ principal, request, response, signal, hasLeft }) => {
    const { method } = request;
    const isStream = method === 'GET' || isListening(request);
    const body: unknown = method === 'POST' ? request.body : undefined;
    if (method === 'POST' && isListening(request) && fieldsOf(body)['method'] !== LISTEN)
      throw new HttpError(400, `The header mcp-method says "${LISTEN}", but the body does not.`);
    const exchange = new AbortController();
    const signals = [signal, exchange.signal, ...(isStream ? [closing, AbortSignal.timeout(maxConnectionTime)] : [])];
    const ended = AbortSignal.any(signals);
    const caller = toMcpCaller(principal, ended);
    try {
      const answer = await mcp.handle(toWebRequest(request, rootUrl, ended), body, caller);
      await send(answer, response, ended);
    } catch (error) {
      if (!hasLeft() && !ended.aborted) throw error;
      // An ended exchange needs no error answer: an unfinished response is cut off.
      if (!response.writableEnded) response.destroy();
    } finally {
      exchange.abort();
    }
  };
}

function toWebRequest({ method, headers }: HttpRequest, rootUrl: string, signal: AbortSignal): Request {
  const given = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined || name === 'authorization' || name === 'cookie'
      ? []
      : [[name, String(value)] as [string, string]],
  );
  return new Request(rootUrl + MCP_PATH, { method, headers: given, signal });
}

async function send(answer: Response, response: HttpResponse, signal: AbortSignal): Promise<void> {
  response.status(answer.status);
  for (const [name, value] of answer.headers) response.set(name, value);
  if (answer.body === null) {
    response.end();
    return;
  }
  if (answer.headers.get('content-type')?.startsWith('text/event-stream') === true) {
    response.set(STREAM_HEADERS);
    response.flushHeaders();
  }
  // The two declarations of the same class differ.
  const body = Readable.fromWeb(answer.body as ReadableStream);
  await pipeline(body, response, { signal });
}

/** A stream of changes. The protocol's server refuses requests whose header and body differ. */
function isListening({ headers }: Pick<HttpRequest, 'headers'>): boolean {
  return headers['mcp-method'] === LISTEN;
}

/**
 * Browsers send `Origin`, so pages of other origins are told by it, also those of a foreign name that resolves to this
 * machine. @throws HttpError 403, 421
 */
function assertPermittedOrigin(request: HttpRequest, { corsOrigins, rootUrl }: McpRoutePorts): void {
  const { origin } = request.headers;
  if (origin === undefined || corsOrigins.includes(origin)) return;
  assertKnownHost(request, [new URL(rootUrl).hostname]);
  assertSameOrigin(request);
}

/** https://www.rfc-editor.org/rfc/rfc6750#section-3, https://www.rfc-editor.org/rfc/rfc9728#section-5.1 */
function challengeOf(error: LLMError, metadataUrl: string, scope: string): string | undefined {
  const where = `resource_metadata="${metadataUrl}"`;
  if (error.code === 'auth-failed') return `Bearer ${where}, scope="${scope}"`;
  return error instanceof LLMPermissionError
    ? `Bearer error="insufficient_scope", scope="${SCOPE}", ${where}`
    : undefined;
}
