/**
 * Lets pages of listed origins call the API (CORS). No cookies are allowed along, so such pages have the rights of the
 * API token that they send, and no others.
 */
import cors from 'cors';
import type { HttpHandler } from './HttpMessages';
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import { parseUrl } from '../../business/ai/domain/util/parseUrl';

/** How long browsers may remember the answer to a preflight request. */
const PREFLIGHT_SECONDS = 600;

/**
 * The middleware of every route that other origins may call.
 * @param origins exact origins
 * @throws LLMInvalidRequestError for an invalid origin
 */
export function allowOrigins(origins: readonly string[]): HttpHandler {
  const options: cors.CorsOptions = {
    // A list, so that the header `vary` is there for one origin as well.
    origin: origins.map((origin) => checkedOrigin(origin, 'corsOrigins')),
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    // Without cookies, this includes all headers, among them those of vendors.
    exposedHeaders: '*',
    maxAge: PREFLIGHT_SECONDS,
  };
  return cors<Parameters<HttpHandler>[0]>(({ headers }, decide) =>
    // Other requests with the method OPTIONS are left to the route.
    decide(null, { ...options, preflightContinue: headers['access-control-request-method'] === undefined }),
  );
}

/**
 * @param setting the name of the setting, for errors
 * @returns the origin as browsers send it
 * @throws LLMInvalidRequestError unless it is exactly one origin
 */
export function checkedOrigin(text: string, setting: string): string {
  const invalid = (reason: string): LLMInvalidRequestError =>
    new LLMInvalidRequestError(`${setting} contains "${text.slice(0, 200)}", ${reason}`, { path: setting });
  if (text.includes('*'))
    throw invalid('but wildcards are not accepted. List the exact origins of the pages that may call the API.');
  const origin = text.toLowerCase();
  const isOrigin = /^[a-z][a-z\d+.-]*:\/\/[^\s/?#@\\,"]+$/.test(origin) && parseUrl(origin) !== undefined;
  if (!isOrigin)
    throw invalid('which is not an origin. Write it like "https://app.example.com" or "http://localhost:5173".');
  // Pages of apps have schemes of their own, such as app: and chrome-extension:, whose origins URL does not know.
  if (!/^https?:/.test(origin)) return origin;
  const { origin: sent } = new URL(origin);
  if (sent !== origin) throw invalid(`but browsers send this origin as "${sent}".`);
  return origin;
}
