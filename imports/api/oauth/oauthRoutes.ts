/**
 * `/oauth/…`: sends browsers to a vendor and takes their callbacks. A cookie binds a flow to the browser that started
 * it, so that nobody can be tricked into connecting their account to another user, or into finishing a foreign flow.
 */
import type { IncomingMessage } from 'node:http';
import type { HttpErrorHandler, HttpHandler, HttpRequest, HttpResponse } from '../http/HttpMessages';
import { createRouter } from '../http/createRouter';
import type { HttpRouter, RouterFactory } from '../http/createRouter';
import { readBody } from '../http/readBody';
import { consoleLogger } from '../../log/consoleLogger';
import { isLLMError } from '../../business/ai/domain/errors/LLMErrors';
import { OtherOriginError } from '../dashboard/sameOrigin';
import { discardBody } from '../http/discardBody';
import { validPrincipal } from '../auth/ApiPrincipal';
import { isBinding, randomToken } from '../../business/providers/application/oauth/flowTokens';
import type { BrowserFlow, FlowOutcome } from '../../business/providers/application/oauth/OAuthFlow';
import { isProviderId } from '../../business/providers/domain/entities/Provider';
import {
  confirmation,
  failurePage,
  INVALID_TICKET,
  NOT_FOUND,
  OTHER_ORIGIN,
  refusalPage,
  resultPage,
  SIGN_IN,
} from './oauthPages';
import { pageHeaders, renderPage } from './renderPage';
import type { OAuthPage } from './renderPage';
import { watching } from '../../business/ai/domain/util/watching';

export interface OAuthRoutesPorts {
  readonly express?: RouterFactory | undefined;
  readonly flow: BrowserFlow;
  /** Default: that of accounts at vendors. */
  readonly pages?: FlowPages;
  /** The user of a request's token or session, if the host can identify them. */
  readonly authenticate: (
    request: IncomingMessage,
  ) => Promise<{ readonly userId: string } | undefined> | { readonly userId: string } | undefined;
  /**
   * Where the pages link to. Default: the flow's root URL.
   * @param name of that which the account is connected to; undefined if the page does not know it
   */
  readonly homeUrl?: (name: string | undefined) => string;
  /** Called when an account was connected, before the browser learns it. */
  readonly onConnected?: (connected: ConnectedAccount, request: IncomingMessage) => Promise<void>;
  /** Receives errors that are bugs. Default: logs them to standard error. */
  readonly onUnexpected?: (error: unknown) => void;
}

/** Where the pages of a flow are, and what they call that which an account is connected to. */
export interface FlowPages {
  /** With `:id`. */
  readonly start: string;
  readonly callback: string;
  readonly isId: (value: unknown) => value is string;
  readonly noun: string;
}

const PROVIDER_PAGES: FlowPages = {
  start: '/oauth/:id/start',
  callback: '/oauth/callback{/:state}',
  isId: isProviderId,
  noun: 'provider',
};

export type ConnectedAccount = Extract<FlowOutcome, { readonly connected: true }>;

/** The longest URL of a callback, in characters. */
const MAX_QUERY = 8_192;
/** Several times the form's ticket. */
const MAX_FORM_BYTES = 4_096;
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
  pages = PROVIDER_PAGES,
  homeUrl = () => flow.rootUrl,
  onConnected,
  onUnexpected = printError,
}: OAuthRoutesPorts): HttpRouter {
  const router = createRouter(express);
  const cookieName = bindingCookieName(flow.rootUrl);
  const { origin } = new URL(flow.rootUrl);
  const unexpected = watching('onUnexpected', onUnexpected, consoleLogger);

  const show = (response: HttpResponse, page: OAuthPage, referrer?: 'same-origin'): void => {
    discardBody(response.req);
    response
      .status(page.status)
      .set(pageHeaders(referrer))
      .send(renderPage(page.confirm === undefined ? { home: homeUrl(undefined), ...page } : page));
  };

  const sendTo = (response: HttpResponse, url: URL, binding: string): void => {
    const secure = cookieName.startsWith('__Host-') ? '; Secure' : '';
    response
      .status(303)
      .set({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', location: url.href })
      .set('set-cookie', `${cookieName}=${binding}; Path=/; Max-Age=${COOKIE_SECONDS}; HttpOnly; SameSite=Lax${secure}`)
      .end();
  };

  /** A browser uses one value for all its flows in progress. */
  const bindingFor = (request: HttpRequest): string => bindingOf(request, cookieName) ?? randomToken();

  const start = async (request: HttpRequest, response: HttpResponse): Promise<void> => {
    const id = request.params['id'];
    const ticket = singleQuery(request, 'ticket');
    if (!pages.isId(id)) {
      show(response, NOT_FOUND);
      return;
    }
    const principal = await userOf(request);
    const ticketInfo = ticket === undefined ? undefined : await flow.readTicket(id, ticket);
    const binding = bindingFor(request);
    if (ticket === undefined) {
      if (principal === undefined) show(response, SIGN_IN);
      else sendTo(response, await flow.start(principal.userId, id, binding), binding);
    } else if (ticketInfo === undefined) {
      show(response, INVALID_TICKET);
    } else if (principal === undefined) {
      show(response, confirmation(ticketInfo, request.baseUrl + request.path, ticket), 'same-origin');
    } else if (principal.userId !== ticketInfo.userId) {
      show(response, refusalPage({ reason: 'other-user' }, pages.noun));
    } else {
      await redeem(response, id, ticket, binding);
    }
  };

  /**
   * A vendor of the same site sends browsers back with the session's cookie, although it is Strict. Such a request
   * has no user, like one from another site: the flow's own cookie identifies its browser.
   */
  const userOf = async (request: HttpRequest): Promise<{ readonly userId: string } | undefined> => {
    try {
      return validPrincipal(await authenticate(request));
    } catch (error) {
      if (error instanceof OtherOriginError) return undefined;
      throw error;
    }
  };

  /** Refuses forms of other sites before their bodies are read. */
  const admitForm: HttpHandler = (request, response, next) => {
    if (pages.isId(request.params['id']) && isSameOrigin(request, origin)) {
      next();
      return;
    }
    show(response, isSameOrigin(request, origin) ? INVALID_TICKET : OTHER_ORIGIN);
  };
  const readForm: HttpHandler = (request, response, next) => {
    const { 'content-type': type = '', 'content-length': length } = request.headers;
    if (!type.startsWith('application/x-www-form-urlencoded') || !(Number(length) <= MAX_FORM_BYTES)) {
      show(response, INVALID_TICKET);
      return;
    }
    readBody(request, MAX_FORM_BYTES)
      .then((body) => {
        if (Buffer.isBuffer(body)) request.body = Object.fromEntries(new URLSearchParams(body.toString()));
        next();
      })
      .catch(next);
  };

  const confirmStart = async (request: HttpRequest, response: HttpResponse): Promise<void> => {
    const id = request.params['id'];
    const body: unknown = request.body;
    const ticket = typeof body === 'object' && body !== null && 'ticket' in body ? body.ticket : undefined;
    if (!pages.isId(id) || typeof ticket !== 'string') show(response, INVALID_TICKET);
    else await redeem(response, id, ticket, bindingFor(request));
  };

  const redeem = async (response: HttpResponse, id: string, ticket: string, binding: string): Promise<void> => {
    const url = await flow.redeemTicket(id, ticket, binding);
    if (url === undefined) show(response, INVALID_TICKET);
    else sendTo(response, url, binding);
  };

  const callback = async (request: HttpRequest, response: HttpResponse): Promise<void> => {
    const parameters = parametersOf(request);
    if (parameters === undefined) {
      show(response, refusalPage({ reason: 'unknown-state' }, pages.noun));
      return;
    }
    const principal = await userOf(request);
    const binding = bindingOf(request, cookieName);
    const outcome = await flow.complete({ parameters, binding, userId: principal?.userId });
    // The account is connected, whatever becomes of the record of it.
    if (outcome.connected) await onConnected?.(outcome, request).catch(unexpected);
    show(response, { ...resultPage(outcome, pages.noun), home: homeUrl(outcome.providerName) });
  };

  const handled =
    (handle: (request: HttpRequest, response: HttpResponse) => Promise<void>): HttpHandler =>
    (request, response) => {
      handle(request, response).catch((error: unknown) => {
        if (!isLLMError(error)) unexpected(error);
        if (!response.headersSent) show(response, failurePage(error));
      });
    };

  /** A path that cannot be decoded, or a form that cannot be read. */
  const showLastError: HttpErrorHandler = (error: unknown, _request, response, _next) => {
    if (response.headersSent) response.destroy();
    else show(response, error instanceof URIError ? NOT_FOUND : INVALID_TICKET);
  };

  // The router would handle HEAD with the handler of GET, which uses up tickets and states.
  router.head(/^\/oauth(?:\/|$)/, (_request, response) => {
    response.status(405).set({ allow: 'GET, POST', 'cache-control': 'no-store' }).end();
  });
  router.get(pages.callback, handled(callback));
  router.get(pages.start, handled(start));
  router.post(pages.start, admitForm, readForm, handled(confirmStart));
  // Other paths are those of the vendors' flow.
  if (pages === PROVIDER_PAGES) router.use('/oauth', (_request, response) => show(response, NOT_FOUND));
  router.use('/oauth', showLastError);
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

function singleQuery(request: HttpRequest, name: string): string | undefined {
  const values = queryOf(request).getAll(name);
  return values.length === 1 ? values[0] : undefined;
}

function queryOf(request: HttpRequest): URLSearchParams {
  const { originalUrl } = request;
  const at = originalUrl.indexOf('?');
  return new URLSearchParams(at < 0 ? '' : originalUrl.slice(at + 1));
}

/** The state may be part of the path, for servers that don't return it as a parameter. */
function parametersOf(request: HttpRequest): URLSearchParams | undefined {
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

function printError(error: unknown): void {
  consoleLogger.error('A page of /oauth failed unexpectedly:', error);
}
