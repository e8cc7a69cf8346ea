/**
 * Where clients put their token: each vendor's SDK has a header of its own, and Google's examples a query
 * parameter.
 */
import type { IncomingMessage } from 'node:http';

/** The first that is there; what it is worth is for `ApiTokens` to say. */
export function presentedToken(request: Pick<IncomingMessage, 'headers' | 'url'>): string | undefined {
  const { headers } = request;
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  return bearer ?? single(headers['x-api-key']) ?? single(headers['x-goog-api-key']) ?? keyInQuery(request.url);
}

/** A header that comes twice is none: nobody can tell which is meant. */
function single(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'string' && header !== '' && !header.includes(',') ? header : undefined;
}

/** `?key=`, which only Google's clients use: elsewhere a token in a URL would end in logs. */
function keyInQuery(url: string | undefined): string | undefined {
  if (url === undefined || !url.startsWith('/v1beta/')) return undefined;
  const query = url.indexOf('?');
  return query === -1 ? undefined : (new URLSearchParams(url.slice(query)).get('key') ?? undefined);
}
