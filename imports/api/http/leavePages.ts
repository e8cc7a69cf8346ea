/** Leaves paths that an app may use for pages of its own to the app when a browser opens them as a page. */
import type { RequestHandler } from 'express';

const SHARED_PATHS = /^\/(?:runs|tools|stats|providers|secrets|tokens|user-data|input|output|chat|ag-ui)(?:\/|$)/;

/** Express skips the rest of the router on `next('router')`. */
export const leavePages: RequestHandler = (request, _response, next) => {
  if (SHARED_PATHS.test(request.path) && isNavigation(request.method, request.headers)) next('router');
  else next();
};

/** https://www.w3.org/TR/fetch-metadata/#sec-fetch-dest-header; older browsers send only `Accept`. */
function isNavigation(
  method: string,
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  const destination = headers['sec-fetch-dest'];
  if (destination !== undefined) return destination === 'document' || destination === 'iframe';
  return typeof headers['accept'] === 'string' && headers['accept'].includes('text/html');
}
