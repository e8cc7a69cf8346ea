/**
 * `/oauth/…`: sends browsers to a vendor and takes their callbacks. A cookie binds a flow to the browser that started
 * it, so that nobody can be tricked into connecting their account to another user, or into finishing a foreign flow.
 */
import type { IncomingMessage } from 'node:http';
import type express from 'express';
import type { Request, RequestHandler, Response, Router } from 'express';
import { isLLMError } from '../../business/ai/domain/errors/LLMErrors';
import { validPrincipal } from '../auth/ApiPrincipal';
import { isBinding, randomToken } from '../../business/providers/application/oauth/flowTokens';
import type {
  FlowOutcome,
  OAuthFlow,
  RefusalReason,
  TicketInfo,
} from '../../business/providers/application/oauth/OAuthFlow';
import { isProviderId } from '../../business/providers/domain/entities/Provider';
import { pageHeaders, renderPage } from './oauthPages';
import type { OAuthPage } from './oauthPages';

export interface OAuthRoutesPorts {
  readonly express: typeof express;
  readonly flow: OAuthFlow;
  /** The user of a request's token or session, if the host can identify them. */
  readonly authenticate: (
    request: IncomingMessage,
  ) => Promise<{ readonly userId: string } | undefined> | { readonly userId: string } | undefined;
  /** Where the pages link to. Default: the flow's root URL. */
  readonly homeUrl?: string;
  /** Receives errors that are bugs. Default: logs them to standard error. */
  readonly onUnexpected?: (error: unknown) => void;
}

/** The longest URL of a callback, in characters. */
const MAX_QUERY = 8_192;
/** The lifetime of a flow. */
const COOKIE_SECONDS = 600;

/** The cookie that binds a flow to its browser. The prefix `__Host-` keeps sibling domains from setting it. */
function bindingCookieName(rootUrl: string): string {
  return rootUrl.startsWith('https:') ? '__Host-bolide-oauth' : 'bolide-oauth';
}

export function createOAuthRoutes({
  express,
  flow,
  authenticate,
  homeUrl = flow.rootUrl,
  onUnexpected = printError,
}: OAuthRoutesPorts): Router {
  const router = express.Router();
  const cookieName = bindingCookieName(flow.rootUrl);
  const { origin } = new URL(flow.rootUrl);

  const show = (response: Response, page: OAuthPage, referrer?: 'same-origin'): void => {
    response
      .status(page.status)
      .set(pageHeaders(referrer))
      .send(renderPage({ ...page, ...(page.confirm === undefined ? { home: homeUrl } : {}) }));
  };

  const sendTo = (response: Response, url: URL, binding: string): void => {
    const secure = cookieName.startsWith('__Host-') ? '; Secure' : '';
    response
      .status(303)
      .set({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', location: url.href })
      .set('set-cookie', `${cookieName}=${binding}; Path=/; Max-Age=${COOKIE_SECONDS}; HttpOnly; SameSite=Lax${secure}`)
      .end();
  };

  /** A browser uses one value for all its flows in progress. */
  const bindingFor = (request: Request): string => bindingOf(request, cookieName) ?? randomToken();

  const start = async (request: Request, response: Response): Promise<void> => {
    const providerId = request.params['providerId'];
    const ticket = singleQuery(request, 'ticket');
    if (!isProviderId(providerId)) {
      show(response, NOT_FOUND);
      return;
    }
    const principal = validPrincipal(await authenticate(request));
    const ticketInfo = ticket === undefined ? undefined : await flow.readTicket(providerId, ticket);
    const binding = bindingFor(request);
    if (ticket === undefined) {
      if (principal === undefined) show(response, SIGN_IN);
      else sendTo(response, await flow.start(principal.userId, providerId, binding), binding);
    } else if (ticketInfo === undefined) {
      show(response, INVALID_TICKET);
    } else if (principal === undefined) {
      show(response, confirmation(ticketInfo, request.baseUrl + request.path, ticket), 'same-origin');
    } else if (principal.userId !== ticketInfo.userId) {
      show(response, pageOf('other-user'));
    } else {
      await redeem(response, providerId, ticket, binding);
    }
  };

  const confirmStart = async (request: Request, response: Response): Promise<void> => {
    const providerId = request.params['providerId'];
    const body: unknown = request.body;
    const ticket = typeof body === 'object' && body !== null && 'ticket' in body ? body.ticket : undefined;
    if (!isProviderId(providerId) || typeof ticket !== 'string') show(response, INVALID_TICKET);
    else if (!isSameOrigin(request, origin)) show(response, OTHER_ORIGIN);
    else await redeem(response, providerId, ticket, bindingFor(request));
  };

  const redeem = async (response: Response, providerId: string, ticket: string, binding: string): Promise<void> => {
    const url = await flow.redeemTicket(providerId, ticket, binding);
    if (url === undefined) show(response, INVALID_TICKET);
    else sendTo(response, url, binding);
  };

  const callback = async (request: Request, response: Response): Promise<void> => {
    const parameters = parametersOf(request);
    if (parameters === undefined) {
      show(response, pageOf('unknown-state'));
      return;
    }
    const principal = validPrincipal(await authenticate(request));
    show(
      response,
      resultPage(
        await flow.complete({ parameters, binding: bindingOf(request, cookieName), userId: principal?.userId }),
      ),
    );
  };

  const handled =
    (handle: (request: Request, response: Response) => Promise<void>): RequestHandler =>
    (request, response) => {
      handle(request, response).catch((error: unknown) => {
        if (!isLLMError(error)) onUnexpected(error);
        if (!response.headersSent) show(response, failurePage(error));
      });
    };

  // Express would handle HEAD with the handler of GET, which uses up tickets and states.
  router.head(/^\/oauth(?:\/|$)/, (_request, response) => {
    response.status(405).set({ allow: 'GET, POST', 'cache-control': 'no-store' }).end();
  });
  router.get('/oauth/callback{/:state}', handled(callback));
  router.get('/oauth/:providerId/start', handled(start));
  router.post('/oauth/:providerId/start', express.urlencoded({ extended: false, limit: '8kb' }), handled(confirmStart));
  router.use('/oauth', (_request, response) => show(response, NOT_FOUND));
  return router;
}

/** The cookie's value. If there are several, someone else has set one, so none is accepted. */
function bindingOf(request: IncomingMessage, name: string): string | undefined {
  const values = (request.headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  const [value, ...others] = values;
  return value !== undefined && others.length === 0 && isBinding(value) ? value : undefined;
}

function singleQuery(request: Request, name: string): string | undefined {
  const values = queryOf(request).getAll(name);
  return values.length === 1 ? values[0] : undefined;
}

function queryOf(request: Request): URLSearchParams {
  const { originalUrl } = request;
  const at = originalUrl.indexOf('?');
  return new URLSearchParams(at < 0 ? '' : originalUrl.slice(at + 1));
}

/** The state may be part of the path, for servers that don't return it as a parameter. */
function parametersOf(request: Request): URLSearchParams | undefined {
  if (request.originalUrl.length > MAX_QUERY) return undefined;
  const parameters = queryOf(request);
  const state = request.params['state'];
  if (typeof state !== 'string') return parameters;
  if (parameters.has('state') && parameters.get('state') !== state) return undefined;
  parameters.set('state', state);
  return parameters;
}

/** Rejects forms submitted by other sites. https://www.w3.org/TR/fetch-metadata/ */
function isSameOrigin(request: IncomingMessage, own: string): boolean {
  const { origin } = request.headers;
  if (origin !== undefined && origin !== 'null') return origin === own;
  return request.headers['sec-fetch-site'] === 'same-origin';
}

function confirmation({ userName, providerName }: TicketInfo, action: string, ticket: string): OAuthPage {
  return {
    status: 200,
    title: `Connect ${providerName}?`,
    message: `Your ${providerName} account will be connected to the user “${visible(userName)}” of this app. Continue only if that is you and you started this yourself.`,
    confirm: { label: `Connect ${providerName}`, action, fields: { ticket } },
  };
}

/** Without characters that could reorder or hide what follows, and of bounded length. */
function visible(name: string): string {
  const text = name.toWellFormed().replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '');
  return text.length <= 200 ? text : `${text.slice(0, 200).toWellFormed()}…`;
}

function resultPage(outcome: FlowOutcome): OAuthPage {
  if (!outcome.connected) return pageOf(outcome.reason, outcome.providerName, outcome.detail);
  return {
    status: 200,
    title: 'Connected',
    message: `Your ${outcome.providerName} account is connected. You can close this page.`,
  };
}

const REFUSALS = {
  'unknown-state': [
    400,
    'Unknown connection',
    'This page does not belong to a connection that was started here. Please start again.',
  ],
  'state-used-again': [
    400,
    'This page has already been used',
    'A connection can be completed only once. If yours did not work, please start again.',
  ],
  'state-expired': [400, 'The connection has expired', 'It was started more than ten minutes ago. Please start again.'],
  'other-browser': [
    403,
    'Different browser',
    'The connection was started in another browser, or its cookie was deleted. Please start again in this browser.',
  ],
  'other-user': [403, 'Different user', 'This connection was started by another user of this app.'],
  'provider-changed': [
    409,
    'The provider has changed',
    'Its settings were changed in the meantime. Please start again.',
  ],
  'not-allowed': [
    403,
    'You may not use this provider',
    'It was removed or disabled, or you no longer have access to it.',
  ],
  'refused-by-server': [400, 'Not connected', 'The authorization server rejected the request.'],
  'server-unreachable': [502, 'Not connected', 'The authorization server can’t be reached. Please try again later.'],
} as const satisfies Record<RefusalReason, readonly [status: number, title: string, message: string]>;

function pageOf(reason: RefusalReason, providerName?: string, detail?: string): OAuthPage {
  const [status, title, message] = REFUSALS[reason];
  return {
    status,
    title,
    message: providerName === undefined ? message : `${providerName}: ${message}`,
    ...(detail === undefined ? {} : { detail }),
  };
}

const NOT_FOUND: OAuthPage = { status: 404, title: 'Not found', message: 'This page does not exist.' };
const SIGN_IN: OAuthPage = {
  status: 401,
  title: 'Please sign in',
  message: 'Sign in to the app first, then connect your account there.',
};
const INVALID_TICKET: OAuthPage = {
  status: 400,
  title: 'This link is no longer valid',
  message: 'Links can be used once, within ten minutes. Please start again from the app.',
};
const OTHER_ORIGIN: OAuthPage = {
  status: 403,
  title: 'Request rejected',
  message: 'The request was not sent by a page of this app.',
};

function failurePage(error: unknown): OAuthPage {
  if (isLLMError(error)) return { status: error.httpStatus, title: 'Something went wrong', message: error.message };
  return { status: 500, title: 'Something went wrong', message: 'An internal error occurred. Please try again.' };
}

function printError(error: unknown): void {
  console.error('A page of /oauth failed unexpectedly:', error);
}
