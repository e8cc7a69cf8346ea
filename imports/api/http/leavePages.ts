/** Leaves paths that an app may use for pages of its own to the app when a browser opens them as a page. */
import type { IncomingMessage } from 'node:http';
import type { HttpHandler } from './HttpMessages';

const SHARED_PATHS = new RegExp(
  `^/(?:${[
    ...['runs', 'tools', 'stats', 'providers', 'secrets', 'tokens', 'user-data', 'input', 'output', 'chat', 'ag-ui'],
    ...[
      'inbox',
      'requests',
      'usage',
      'budgets',
      'routing',
      'mcp-servers',
      'mcp-accounts',
      'queue',
      'schedules',
      'prompts',
    ],
  ].join('|')})(?:/|$)`,
);

/** Skips the rest of the router, by `next('router')`. */
export const leavePages: HttpHandler = (request, _response, next) => {
  if (SHARED_PATHS.test(request.path) && isNavigation(request)) next('router');
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
