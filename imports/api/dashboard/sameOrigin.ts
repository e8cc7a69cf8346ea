/**
 * Whether a request comes from a page of this server. A name that another's DNS points at this machine must not
 * reach what a cookie opens, and a page from elsewhere, also from another port, must not act with it.
 */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { HttpError } from '../http/HttpError';

/**
 * Addresses can't be rebound, and `localhost` is nobody's to point elsewhere.
 * @param hostNames names under which the server is reached besides
 * @throws DoorError 421
 */
export function assertKnownHost(
  { headers: { host = '' } }: Pick<IncomingMessage, 'headers'>,
  hostNames: readonly string[],
): void {
  const name = nameIn(host);
  if (isIP(name) !== 0 || name === 'localhost' || name.endsWith('.localhost') || hostNames.includes(name)) return;
  throw new HttpError(421, 'This server is not known under that name.');
}

/**
 * Every browser names the origin of what changes something, and the newer ones the relation of everything; what
 * names neither was sent by no page.
 * @throws DoorError 403 for what another page had the browser send
 */
export function assertSameOrigin({ headers }: Pick<IncomingMessage, 'headers'>): void {
  const { origin, host = '' } = headers;
  const site = headers['sec-fetch-site'];
  // https://fetch.spec.whatwg.org/#origin-header
  const isOwn = origin === undefined || hostOf(origin) === host.toLowerCase();
  // https://www.w3.org/TR/fetch-metadata/: `none` is a person who opened the address. Another port is the same
  // site, and not the same origin.
  const isNear = site === undefined || site === 'same-origin' || site === 'none';
  if (!isOwn || !isNear) throw new HttpError(403, 'This was not sent from a page of this server.');
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

/** Without the port and the brackets of IPv6. */
function nameIn(host: string): string {
  const name = /^(?:\[(?<v6>[0-9a-f:.]+)\]|(?<name>[^:[\]]+))(?::\d+)?$/i.exec(host)?.groups;
  return (name?.['v6'] ?? name?.['name'] ?? '').toLowerCase();
}
