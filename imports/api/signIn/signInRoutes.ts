/**
 * `/sign-in`: sends browsers to the OpenID provider, and opens the dashboard's session for those that come back. A
 * cookie binds a flow to the browser that started it, so that nobody can be tricked into another's session.
 */
import type { HttpResponse } from '../http/HttpMessages';
import { isLLMError, LLMRateLimitError } from '../../business/ai/domain/errors/LLMErrors';
import type { LLMError } from '../../business/ai/domain/errors/LLMErrors';
import type { Logger } from '../../business/ai/domain/interfaces/Logger';
import type { AuthFailureLimiter } from '../auth/AuthFailureLimiter';
import type { DashboardSessions } from '../dashboard/DashboardSessions';
import { assertKnownHost, assertSameOrigin, OtherOriginError } from '../dashboard/sameOrigin';
import { SessionCookie } from '../dashboard/SessionCookie';
import { recordSession, reportSignIn } from '../dashboard/sessionAudit';
import type { SessionAuditPorts } from '../dashboard/sessionAudit';
import { HttpError } from '../http/HttpError';
import type { AddEndpoint } from '../http/Endpoint';
import type { RequestContext, RouteHandler } from '../http/RequestContext';
import { failurePage } from '../oauth/oauthPages';
import { pageHeaders, renderPage } from '../oauth/renderPage';
import type { OAuthPage } from '../oauth/renderPage';
import { askPage, MISCONFIGURED, refusalPage } from './signInPages';
import { FLOW_SECONDS, SEALED_FLOW, SIGN_IN_PATH } from './SignInFlow';
import type { SignInFlow } from './SignInFlow';

/** Signing in at an OpenID provider. */
export interface OpenIdSignIn {
  /** The name of the provider that people see. */
  readonly name: string;
  readonly flow: SignInFlow;
  /** API tokens open no sessions. */
  readonly isOnly: boolean;
  /** Where browsers reach this app, without a slash at the end. */
  readonly rootUrl: string;
  /** Where a browser ends its session at the provider, too. @throws LLMError */
  readonly signOutUrl: () => Promise<URL | undefined>;
}

export interface SignInRoutePorts extends SessionAuditPorts {
  readonly openId: OpenIdSignIn;
  readonly sessions: DashboardSessions;
  readonly authFailures: AuthFailureLimiter;
  readonly logger: Logger;
}

/** The longest URL of a callback, in characters. */
const MAX_QUERY = 8_192;
/** On record with every sign-in at the provider. */
const METHOD = 'OpenID Connect';

export function addSignInRoutes(add: AddEndpoint, ports: SignInRoutePorts): void {
  const { rootUrl } = ports.openId;
  // Browsers come back from another site, so it is Lax. With https, its prefix keeps sibling domains from setting it,
  // which requires the path `/`.
  const cookie = new SessionCookie({
    name: 'bolide-sign-in',
    isSecure: rootUrl.startsWith('https:'),
    sameSite: 'Lax',
    path: SIGN_IN_PATH,
    pattern: SEALED_FLOW,
  });
  const shown = pagesOf(ports);
  add('app', SIGN_IN_PATH, SIGN_IN_PATH, { method: 'get', handler: shown(start(ports, cookie)), isOwnPage: true });
  const path = `${SIGN_IN_PATH}/callback`;
  add('app', path, path, { method: 'get', handler: shown(complete(ports, cookie)), isOwnPage: true });
}

function start({ openId, sessions }: SignInRoutePorts, cookie: SessionCookie): RouteHandler {
  return async ({ request, response }) => {
    assertKnownHost(request, sessions.hostNames);
    try {
      assertSameOrigin(request);
    } catch (error) {
      if (!(error instanceof OtherOriginError)) throw error;
      show(response, askPage(openId.name), { label: `Sign in with ${openId.name}`, href: SIGN_IN_PATH });
      return;
    }
    const started = await openId.flow.start(sessions.idIn(request));
    if ('refusal' in started) {
      show(response, refusalPage(started, openId.name), AGAIN);
      return;
    }
    const { url, sealed } = started;
    response
      .status(303)
      .set({ ...REDIRECT_HEADERS, location: url.href, 'set-cookie': cookie.set(sealed, FLOW_SECONDS) })
      .end();
  };
}

function complete(ports: SignInRoutePorts, cookie: SessionCookie): RouteHandler {
  const { openId, sessions, authFailures } = ports;
  return async ({ request, response }) => {
    assertKnownHost(request, sessions.hostNames);
    authFailures.assertAllowed(request);
    const { originalUrl } = request;
    const parameters = new URLSearchParams(originalUrl.length > MAX_QUERY ? '' : originalUrl.replace(/^[^?]*\??/, ''));
    const outcome = await openId.flow.complete(parameters, cookie.read(request));
    if ('refusal' in outcome) {
      const { refusal, userId } = outcome;
      if (refusal !== 'server-unreachable') authFailures.countFailure(request);
      reportSignIn(ports, request, { userId, details: { method: METHOD, reason: refusal } });
      // Opening this page in a browser must not end a sign-in that is in progress there.
      if (refusal !== 'unknown-state' && refusal !== 'other-browser') response.set('set-cookie', cookie.clear());
      show(response, refusalPage(outcome, openId.name), AGAIN);
      return;
    }
    const opened = await sessions.openFor(outcome.principal, outcome.replaced);
    await recordSession(ports, request, opened.principal, 'session.open', { details: { method: METHOD } });
    response
      .status(303)
      .set({ ...REDIRECT_HEADERS, location: `${openId.rootUrl}/`, 'set-cookie': [opened.cookie, cookie.clear()] })
      .end();
  };
}

const REDIRECT_HEADERS = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' };
const AGAIN = { label: 'Sign in again', href: SIGN_IN_PATH };

/** Milliseconds between two reports of a sign-in that is not set up correctly, which anybody may try. */
const REPORT_EVERY_MS = 60_000;

/** @returns what shows the errors of a handler as pages */
function pagesOf({ logger }: SignInRoutePorts): (handle: RouteHandler) => RouteHandler {
  let reportedAt = -Infinity;
  const report = (error: LLMError): void => {
    const now = Date.now();
    if (now - reportedAt < REPORT_EVERY_MS) return;
    reportedAt = now;
    logger.error(`Nobody can sign in at the OpenID provider: ${error.message}`);
  };
  return (handle) => async (context: RequestContext) => {
    const { request, response } = context;
    // The router handles HEAD with the handler of GET, which uses up states.
    if (request.method === 'HEAD') {
      response.status(405).set('allow', 'GET').end();
      return;
    }
    try {
      await handle(context);
    } catch (error) {
      if (!isLLMError(error)) throw error;
      // The request is at fault for an error of its own status, such as one with the name of another server.
      const isMisconfigured = error.code === 'invalid-request' && !(error instanceof HttpError);
      if (isMisconfigured) report(error);
      const { retryAfterMs } = error;
      if (error instanceof LLMRateLimitError && retryAfterMs !== undefined)
        response.set('retry-after', String(Math.ceil(retryAfterMs / 1_000)));
      show(response, isMisconfigured ? MISCONFIGURED : failurePage(error), AGAIN);
    }
  };
}

function show(response: HttpResponse, page: OAuthPage, link: OAuthPage['link'] & {}): void {
  response
    .status(page.status)
    .set(pageHeaders())
    .send(renderPage({ ...page, link, home: '/' }));
}
