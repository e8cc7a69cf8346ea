/**
 * The paths of the API before it was below `/api`. They answer as the new ones do, except to browsers that open them as
 * a page.
 */
import type { IncomingMessage } from 'node:http';
import type { HttpHandler } from './HttpMessages';

const MOVED = new RegExp(
  `^/(?:${[
    ...['ag-ui', 'audit', 'batches', 'budgets', 'chat', 'inbox', 'input', 'mcp-accounts', 'mcp-servers', 'me'],
    ...['memories', 'models', 'output', 'prompts', 'providers', 'queue', 'requests', 'routing', 'runs', 'schedules'],
    ...['secrets', 'session', 'stats', 'tokens', 'tools', 'usage', 'user-data'],
  ].join('|')})(?=[/?]|$)`,
  'i',
);

/** The start of 28 November 2026, as https://www.rfc-editor.org/rfc/rfc9745#section-2.1 writes a time. */
const DEPRECATED_SINCE = '@1795824000';

export const useMovedPath: HttpHandler = (request, response, next) => {
  if (MOVED.test(request.url) && !isNavigation(request)) {
    request.url = `/api${request.url}`;
    response.set({
      deprecation: DEPRECATED_SINCE,
      link: `<${request.baseUrl}${request.path}>; rel="successor-version"`,
    });
  }
  next();
};

/** Leaves these paths to an app when a browser opens them as a page: skips the router, by `next('router')`. */
export const leavePages: HttpHandler = (request, _response, next) => {
  if (MOVED.test(request.url) && isNavigation(request)) next('router');
  else next();
};

/**
 * Whether a browser opens the path as a page.
 * https://www.w3.org/TR/fetch-metadata/#sec-fetch-dest-header; older browsers send only `Accept`.
 */
export function isNavigation({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  const destination = headers['sec-fetch-dest'];
  if (destination !== undefined) return destination === 'document' || destination === 'iframe';
  return headers.accept?.includes('text/html') === true;
}
