/** `/oauth/…` of the authorization server for `/mcp`, and its metadata. */
import type { IncomingMessage } from 'node:http';
import { consoleLogger } from '../../log/consoleLogger';
import { isLLMError } from '../../business/ai/domain/errors/LLMErrors';
import { fieldsOf, isObject } from '../../business/ai/domain/util/json';
import { validPrincipal } from '../auth/ApiPrincipal';
import type { ApiPrincipal } from '../auth/ApiPrincipal';
import { createRouter } from '../http/createRouter';
import type { HttpRouter, RouterFactory } from '../http/createRouter';
import { HttpError } from '../http/HttpError';
import type { HttpHandler, HttpRequest, HttpResponse } from '../http/HttpMessages';
import { readBody } from '../http/readBody';
import { AUTHORIZATION_PATHS, destinationOf } from './AuthorizationServer';
import type { AuthorizationServer, IssuedTokens } from './AuthorizationServer';
import { renderConsent, renderGrants, renderRefusal, scriptedHeaders } from './authorizationPages';
import type { ConsentPorts } from './authorizationPages';
import { OAuthProtocolError } from './OAuthProtocolError';

export interface AuthorizationRoutesPorts extends ConsentPorts {
  readonly express?: RouterFactory | undefined;
  readonly server: AuthorizationServer;
  /** The signed-in user of a page's request. API tokens are no sign-in. */
  readonly authenticate: (request: IncomingMessage) => Promise<ApiPrincipal | undefined>;
  readonly onGranted: (issued: IssuedTokens, request: IncomingMessage) => Promise<void>;
  readonly onRevoked: (revoked: { readonly userId: string; readonly tokenId: string }) => Promise<void>;
  /** Revokes a grant of the user. @returns false if there is no such grant */
  readonly revoke: (userId: string, tokenId: string) => Promise<boolean>;
}

export const METADATA_PATH = '/.well-known/oauth-authorization-server';
const MAX_BYTES = 16_384;

export function createAuthorizationRoutes(ports: AuthorizationRoutesPorts): HttpRouter {
  const { server, authenticate, nameOf } = ports;
  const router = createRouter(ports.express);

  const answer = (response: HttpResponse, status: number, body: unknown): void => {
    response.status(status).set({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }).json(body);
  };
  const show = (response: HttpResponse, status: number, page: string): void => {
    response.status(status).set(scriptedHeaders()).send(page);
  };

  const handled =
    (handle: (request: HttpRequest, response: HttpResponse) => Promise<void> | void): HttpHandler =>
    (request, response) => {
      new Promise<void>((resolve) => resolve(handle(request, response))).catch((error: unknown) => {
        if (response.headersSent) {
          response.destroy();
          return;
        }
        if (error instanceof OAuthProtocolError)
          answer(response, error.code === 'invalid_client' ? 401 : 400, {
            error: error.code,
            error_description: error.message,
          });
        else if (error instanceof HttpError)
          answer(response, error.httpStatus, { error: 'invalid_request', error_description: error.message });
        else {
          if (!isLLMError(error))
            consoleLogger.error('A request to the authorization server failed unexpectedly:', error);
          answer(response, 503, { error: 'temporarily_unavailable', error_description: 'Try again later.' });
        }
      });
    };

  const authorize = (request: HttpRequest, response: HttpResponse): void => {
    try {
      const { client, redirectUri } = server.readRequest(queryOf(request));
      show(response, 200, renderConsent(ports, { client: client.name, destination: destinationOf(redirectUri) }));
    } catch (error) {
      if (!(error instanceof OAuthProtocolError)) throw error;
      if (error.redirect === undefined) show(response, 400, renderRefusal(ports, error.message));
      else response.status(303).set({ 'cache-control': 'no-store', location: error.redirect.href }).end();
    }
  };

  /** What the page of the consent asks: who is signed in, and where to go with the decision. */
  const decide = async (request: HttpRequest, response: HttpResponse): Promise<void> => {
    const user = await userOf(request);
    const body = fieldsOf(await jsonIn(request));
    const { query, decision } = body;
    const asked = server.readRequest(new URLSearchParams(typeof query === 'string' ? query : ''));
    if (decision === 'approve') answer(response, 200, { location: server.approve(asked, user.userId).href });
    else if (decision === 'deny') answer(response, 200, { location: server.deny(asked).href });
    else answer(response, 200, { name: (await nameOf(user.userId)) ?? user.userId });
  };

  const register = async (request: HttpRequest, response: HttpResponse): Promise<void> => {
    answer(response, 201, server.register(await jsonIn(request)));
  };

  const token = async (request: HttpRequest, response: HttpResponse): Promise<void> => {
    const issued = await server.exchange(await formIn(request));
    if (issued.isNew) await ports.onGranted(issued, request);
    answer(response, 200, issued.response);
  };

  const revoke = async (request: HttpRequest, response: HttpResponse): Promise<void> => {
    const revoked = await server.revoke(await formIn(request));
    if (revoked !== undefined) await ports.onRevoked(revoked);
    // Also for a token that is not valid: https://www.rfc-editor.org/rfc/rfc7009#section-2.2
    response.status(200).set({ 'cache-control': 'no-store' }).end();
  };

  const grants = async (request: HttpRequest, response: HttpResponse): Promise<void> => {
    const { userId } = await userOf(request);
    const { revoke: id } = fieldsOf(await jsonIn(request));
    if (typeof id === 'string' && (await ports.revoke(userId, id))) await ports.onRevoked({ userId, tokenId: id });
    const listed = await server.grants(userId);
    answer(response, 200, {
      grants: listed.map(({ _id, name, grant, scopes, createdAt, lastUsedAt }) => ({
        ...{ id: _id, name, client: grant?.client, scopes, createdAt, lastUsedAt },
      })),
    });
  };

  const userOf = async (request: HttpRequest): Promise<ApiPrincipal> => {
    const user = validPrincipal(await authenticate(request));
    if (user === undefined) throw new HttpError(401, 'Sign in first.');
    return user;
  };

  router.get(METADATA_PATH, (_request, response) => {
    response.set({ 'cache-control': 'public, max-age=300' }).json(server.metadata);
  });
  router.get(AUTHORIZATION_PATHS.authorize, handled(authorize));
  router.post(AUTHORIZATION_PATHS.authorize, handled(decide));
  router.post(AUTHORIZATION_PATHS.register, handled(register));
  router.post(AUTHORIZATION_PATHS.token, handled(token));
  router.post(AUTHORIZATION_PATHS.revoke, handled(revoke));
  router.get(AUTHORIZATION_PATHS.grants, (_request, response) => show(response, 200, renderGrants(ports)));
  router.post(AUTHORIZATION_PATHS.grants, handled(grants));
  return router;
}

function queryOf({ originalUrl }: HttpRequest): URLSearchParams {
  const at = originalUrl.indexOf('?');
  return new URLSearchParams(at < 0 ? '' : originalUrl.slice(at + 1));
}

/** @throws HttpError */
async function jsonIn(request: HttpRequest): Promise<unknown> {
  if (request.headers['content-type']?.startsWith('application/json') !== true)
    throw new HttpError(415, 'The content-type must be application/json.');
  const body = await readBody(request, MAX_BYTES);
  if (!Buffer.isBuffer(body)) return body;
  try {
    return JSON.parse(body.toString()) as unknown;
  } catch {
    throw new HttpError(400, 'The body is not JSON.');
  }
}

/** @throws HttpError */
async function formIn(request: HttpRequest): Promise<URLSearchParams> {
  if (request.headers['content-type']?.startsWith('application/x-www-form-urlencoded') !== true)
    throw new HttpError(415, 'The content-type must be application/x-www-form-urlencoded.');
  const body = await readBody(request, MAX_BYTES);
  if (Buffer.isBuffer(body)) return new URLSearchParams(body.toString());
  return new URLSearchParams(isObject(body) ? (body as Record<string, string>) : {});
}
