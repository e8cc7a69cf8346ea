/** Serves the dashboard's page and files, and manages its session. */
import type { IncomingMessage } from 'node:http';
import type { HttpRequest, HttpResponse } from '../http/HttpMessages';
import {
  ConflictError,
  LLMAuthError,
  LLMInvalidRequestError,
  LLMPermissionError,
} from '../../business/ai/domain/errors/LLMErrors';
import { fieldsOf } from '../../business/ai/domain/util/json';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import { hasScope } from '../auth/ApiPrincipal';
import type { AuthFailureLimiter } from '../auth/AuthFailureLimiter';
import type { ApiPrincipal } from '../auth/ApiPrincipal';
import { HttpError } from '../http/HttpError';
import { preferredEncoding } from '../http/preferredEncoding';
import type { RequestContext, RouteHandler } from '../http/RequestContext';
import type { OpenIdSignIn } from '../signIn/signInRoutes';
import type { DashboardSessions } from './DashboardSessions';
import type { EncodedFile } from './EncodedFile';
import { recordSession, reportSignIn } from './sessionAudit';
import type { SessionAuditPorts } from './sessionAudit';
import { assertKnownHost, assertSameOrigin } from './sameOrigin';

/** A bundled dashboard. */
export interface DashboardFiles {
  /** The HTML at `/` for visitors. */
  readonly page: EncodedFile;
  /** The HTML at `/` for a browser that has a session, valid or not: it loads the pages after sign-in at once. */
  readonly signedInPage: EncodedFile;
  /** The HTML of unknown paths, for browsers. */
  readonly notFoundPage: string;
  /** By path, such as `/dashboard/main-1f3a.js`, whose name changes with its contents, or `/favicon.ico`. */
  readonly files: ReadonlyMap<string, EncodedFile>;
}

export interface DashboardPagePorts {
  readonly sessions: DashboardSessions;
  readonly dashboard: DashboardFiles;
  /** Enables signing in at an OpenID provider. */
  readonly openId?: OpenIdSignIn;
  /** Shown on every page if responses are simulated. */
  readonly notice?: string;
}

export interface SignInPorts extends DashboardPagePorts, SessionAuditPorts {
  readonly authFailures: AuthFailureLimiter;
}

/** Allows scripts, styles and data from this server only, and no framing. */
const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-cache',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** The addresses of the dashboard's pages but the first, and of what they show of one entry. */
export const PAGE_PATHS = new RegExp(
  `^/(?:${[
    ...['inbox', 'runs', 'requests', 'usage', 'playground', 'tools', 'memory', 'providers', 'mcp-servers', 'routing'],
    ...['tokens', 'budgets', 'queue', 'audit', 'overview'],
  ].join('|')})(?=/|$)`,
);

export function servePage({ sessions, dashboard }: DashboardPagePorts): RouteHandler {
  return async ({ request, response }) => {
    assertKnownHost(request, sessions.hostNames);
    const page = sessions.idIn(request) === undefined ? dashboard.page : dashboard.signedInPage;
    await sendFile(page, request, response.set(PAGE_HEADERS));
  };
}

/** Responds with 404. */
export function serveNotFound({ dashboard }: Pick<DashboardPagePorts, 'dashboard'>, response: HttpResponse): void {
  response.status(404).set(PAGE_HEADERS).send(dashboard.notFoundPage);
}

export function serveFile({ sessions, dashboard }: DashboardPagePorts): RouteHandler {
  return async ({ request, response }) => {
    assertKnownHost(request, sessions.hostNames);
    const path = request.baseUrl + request.path;
    const file = dashboard.files.get(path);
    if (file === undefined) throw new HttpError(404, 'File not found.');
    response.set({
      'cache-control': path.startsWith('/dashboard/') ? 'public, max-age=31536000, immutable' : 'public, max-age=86400',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
    });
    await sendFile(file, request, response);
  };
}

/** Sends the file in the client's preferred encoding, or 304 if the client has it. */
async function sendFile(file: EncodedFile, request: HttpRequest, response: HttpResponse): Promise<void> {
  const encoding = preferredEncoding(request.headers['accept-encoding'], file.encodings);
  const { body, etag } = await file.in(encoding);
  response.set('etag', etag);
  if (file.encodings.length > 1) response.appendHeader('vary', 'accept-encoding');
  if (hasCurrent(request, etag)) {
    response.status(304).end();
    return;
  }
  response.set('content-type', file.contentType);
  if (encoding !== 'identity') response.set('content-encoding', encoding);
  response.send(body);
}

/** https://www.rfc-editor.org/rfc/rfc9110#section-13.1.2 */
function hasCurrent({ headers }: HttpRequest, etag: string): boolean {
  const tags = (headers['if-none-match'] ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etag) || tags.includes('*');
}

/** Several times the longest token. */
export const MAX_SIGN_IN_BYTES = 4_096;

/** Checks before the body is read that a page of this server sent it, and that its address may try a token. */
export function admitSignIn({ sessions, authFailures, openId }: SignInPorts): (request: IncomingMessage) => void {
  return (request) => {
    assertKnownHost(request, sessions.hostNames);
    assertSameOrigin(request);
    if (openId?.isOnly === true)
      throw new LLMPermissionError(`API tokens don't sign in to this dashboard: sign in with ${openId.name}.`);
    authFailures.assertAllowed(request);
  };
}

/**
 * Takes `{ token, replace? }`. Sets the cookie and responds with `{ userId, isAdmin, notice? }`. With `replace: false`,
 * a session of the same user with the same rights stays, and one of another responds with 409.
 */
export function openSession(ports: SignInPorts): RouteHandler {
  const { sessions, notice, authFailures } = ports;
  return async ({ request, response }) => {
    const { token: given, replace } = fieldsOf(request.body);
    if (typeof given !== 'string')
      throw new LLMInvalidRequestError(
        '"token" must be an API token, such as the one that the server printed at startup.',
        { path: 'token' },
      );
    const token = given.trim();
    const current = replace === false ? await sessions.authenticate(request) : undefined;
    if (current !== undefined) {
      const next = await authFailures.verify(request, token, () => sessions.tokens.verify(token));
      if (next === undefined) {
        reportSignIn(ports, request);
        throw new LLMAuthError(INVALID_TOKEN);
      }
      assertSamePerson(current, next);
      response.json(sessionView(current, notice));
      return;
    }
    const opened = await authFailures.verify(request, token, () => sessions.open(token, request));
    if (opened === undefined) {
      reportSignIn(ports, request);
      throw new LLMAuthError(INVALID_TOKEN);
    }
    await recordSession(ports, request, opened.principal, 'session.open');
    response
      .set({ 'set-cookie': opened.cookie, 'cache-control': 'no-store' })
      .json(sessionView(opened.principal, notice));
  };
}

const INVALID_TOKEN = 'The API token is not valid on this server.';

/** @throws ConflictError */
function assertSamePerson(current: ApiPrincipal, next: ApiPrincipal): void {
  if (current.userId === next.userId && hasScope(current, 'admin') === hasScope(next, 'admin')) return;
  throw new ConflictError(`You are signed in as ${describeUser(current)}; the API token is of ${describeUser(next)}.`);
}

function describeUser(principal: ApiPrincipal): string {
  return `"${principal.userId}"${hasScope(principal, 'admin') ? ', with the rights of an admin' : ''}`;
}

/** Responds with `{ userId, isAdmin, notice? }`, or 401. */
export function readSession({ notice }: DashboardPagePorts): RouteHandler {
  return ({ principal, response }) => {
    response.set('cache-control', 'no-store').json(sessionView(principal, notice));
    return Promise.resolve();
  };
}

/** Responds with 204, or with `{ signOutUrl }` if the browser is to end its session at the OpenID provider, too. */
export function closeSession(ports: SignInPorts): RouteHandler {
  const { sessions, openId } = ports;
  return async ({ request, response }: RequestContext) => {
    assertKnownHost(request, sessions.hostNames);
    assertSameOrigin(request);
    const principal = await sessions.authenticate(request);
    const cookie = await sessions.close(request);
    if (principal !== undefined) await recordSession(ports, request, principal, 'session.close');
    response.set('set-cookie', cookie);
    const signOutUrl =
      principal === undefined || principal.token !== undefined ? undefined : await openId?.signOutUrl();
    if (signOutUrl === undefined) response.status(204).end();
    else response.set('cache-control', 'no-store').json({ signOutUrl });
  };
}

function sessionView(
  principal: ApiPrincipal,
  notice: string | undefined,
): { readonly userId: string; readonly isAdmin: boolean; readonly notice?: string } {
  return omitUndefined({ userId: principal.userId, isAdmin: hasScope(principal, 'admin'), notice });
}
