/**
 * Checks that a request comes from a page of this server, against DNS rebinding (a foreign name that resolves to this
 * machine) and cross-site request forgery (a page of another origin, or port, that uses the session's cookie).
 */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { HttpError } from '../http/HttpError';
import { parseUrl } from '../../business/ai/domain/util/parseUrl';

/**
 * IP addresses and `localhost` can't be rebound.
 * @param hostNames further host names of the server
 * @throws HttpError 421
 */
export function assertKnownHost(
  { headers: { host = '' } }: Pick<IncomingMessage, 'headers'>,
  hostNames: readonly string[],
): void {
  const name = nameIn(host);
  if (isIP(name) !== 0 || name === 'localhost' || name.endsWith('.localhost') || hostNames.includes(name)) return;
  throw new HttpError(421, 'The Host header names another server. Open the dashboard under its configured URL.');
}

/** A page of another origin sent a request with the cookie of a session. */
export class OtherOriginError extends HttpError {
  constructor() {
    super(403, 'The request was not sent by a page of this server.');
  }
}

/**
 * Browsers send `Origin` with every request that changes something, and current ones `Sec-Fetch-Site` with every
 * request. A request with neither was not sent by a page.
 * @throws OtherOriginError for a request that a page of another origin sent
 */
export function assertSameOrigin({ headers }: Pick<IncomingMessage, 'headers'>): void {
  const { origin, host = '' } = headers;
  const site = headers['sec-fetch-site'];
  // https://fetch.spec.whatwg.org/#origin-header
  const isOwnOrigin = origin === undefined || hostOf(origin) === host.toLowerCase();
  // https://www.w3.org/TR/fetch-metadata/: `none` means that the user opened the URL. Another port is the same site,
  // but not the same origin.
  const isSameOrigin = site === undefined || site === 'same-origin' || site === 'none';
  if (!isOwnOrigin || !isSameOrigin) throw new OtherOriginError();
}

/**
 * Whether a script asked for the response to read it, rather than a browser to show it or to run it.
 * https://www.w3.org/TR/fetch-metadata/; older browsers, and others over plain http, send only `Accept`.
 */
export function isSentByScript({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const { accept = '' } = headers;
  const mode = headers['sec-fetch-mode'];
  const destination = headers['sec-fetch-dest'];
  if (mode === 'navigate') return false;
  if (destination === undefined) return !accept.includes('text/html');
  return destination === 'empty' || destination === 'websocket';
}

function hostOf(origin: string): string | undefined {
  return parseUrl(origin)?.host;
}

/** The host name without the port and the brackets of IPv6. */
function nameIn(host: string): string {
  const name = /^(?:\[(?<v6>[0-9a-f:.]+)\]|(?<name>[^:[\]]+))(?::\d+)?$/i.exec(host)?.groups;
  return (name?.['v6'] ?? name?.['name'] ?? '').toLowerCase();
}
