/**
 * Finds the token in a request: each vendor's SDK uses a header of its own, and Google's examples a query
 * parameter.
 */
import type { IncomingMessage } from 'node:http';

/** The headers in which the SDKs of Anthropic, Google and Azure send a key. */
const KEY_HEADERS = ['x-api-key', 'x-goog-api-key', 'api-key'] as const;

/** @returns the first token found, which `ApiTokens` must still verify */
export function presentedToken(request: Pick<IncomingMessage, 'headers' | 'url'>): string | undefined {
  const { headers } = request;
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  if (bearer !== undefined) return bearer;
  const keys = KEY_HEADERS.map((name) => single(headers[name]));
  return keys.find((key) => key !== undefined) ?? keyInQuery(request.url);
}

/** A repeated header is ignored, because it is ambiguous. */
function single(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'string' && header !== '' && !header.includes(',') ? header : undefined;
}

const GOOGLE_PATH = /^\/v1(?:beta|alpha)\/|^\/v1\/models\/[^?]+:\w+\?/;

/** `?key=`, accepted only where Google's clients send it, because tokens in URLs end up in logs. */
function keyInQuery(url: string | undefined): string | undefined {
  if (url === undefined || !GOOGLE_PATH.test(url)) return undefined;
  const query = url.indexOf('?');
  return query === -1 ? undefined : (new URLSearchParams(url.slice(query)).get('key') ?? undefined);
}
