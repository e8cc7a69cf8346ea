/** What a client registers: its name, and where it receives codes. https://www.rfc-editor.org/rfc/rfc7591#section-2 */
import { fieldsOf, isList } from '../../business/ai/domain/util/json';
import { parseUrl } from '../../business/ai/domain/util/parseUrl';
import { OAuthProtocolError } from './OAuthProtocolError';

export interface OAuthClient {
  /** Chosen by the client, so it proves nothing. */
  readonly name: string;
  readonly redirectUris: readonly string[];
}

const MAX_REDIRECTS = 10;
const MAX_REDIRECT = 300;
const MAX_NAME = 80;
/** Schemes that browsers run or read instead of handing them to an app. */
const NEVER = /^(?:javascript|data|vbscript|blob|file|filesystem|about|view-source|http|ws|wss|ftp):$/;

/** @throws OAuthProtocolError */
export function readClient(body: unknown): OAuthClient {
  const fields = fieldsOf(body);
  const { redirect_uris: uris, client_name: name = 'An MCP client' } = fields;
  if (!isList(uris) || uris.length === 0 || uris.length > MAX_REDIRECTS)
    throw new OAuthProtocolError(
      'invalid_redirect_uri',
      `"redirect_uris" must be a list of 1 to ${MAX_REDIRECTS} URLs.`,
    );
  if (typeof name !== 'string')
    throw new OAuthProtocolError('invalid_client_metadata', '"client_name" must be a string.');
  return { name: readable(name), redirectUris: uris.map(readRedirect) };
}

/**
 * Whether a request names a registered address. Programs on the user's machine choose a port anew each time.
 * https://www.rfc-editor.org/rfc/rfc8252#section-7.3
 */
export function matchesRedirect(registered: string, given: string): boolean {
  if (registered === given) return true;
  const [known, url] = [parseUrl(registered), parseUrl(given)];
  if (known?.protocol !== 'http:' || url === undefined || given.length > MAX_REDIRECT) return false;
  url.port = known.port;
  return url.href === known.href;
}

export function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '127.0.0.1' || hostname === '[::1]';
}

function readRedirect(uri: unknown): string {
  const url = typeof uri === 'string' && uri.length <= MAX_REDIRECT ? parseUrl(uri) : undefined;
  const isPermitted =
    url !== undefined &&
    url.hash === '' &&
    url.username === '' &&
    url.password === '' &&
    (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url)) || !NEVER.test(url.protocol));
  if (isPermitted) return uri as string;
  throw new OAuthProtocolError(
    'invalid_redirect_uri',
    'Each of "redirect_uris" must be an https URL, an http URL of the user\'s machine, or one of an app\'s own scheme, without a fragment.',
  );
}

/** One line without what could imitate the page around it. */
function readable(name: string): string {
  const line = name
    .replace(/[\p{C}\p{Z}]+/gu, ' ')
    .trim()
    .slice(0, MAX_NAME);
  return line === '' ? 'An MCP client' : line;
}
