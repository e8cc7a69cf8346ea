/** `GET /openapi.json`. Public, since it says no more than the documentation does. */
import type { JsonObject } from '../../business/ai/domain/types/VendorTypes';
import type { RouteHandler } from '../http/RequestContext';
import { openApiDocument } from './openApiDocument';
import type { RegisteredRoute } from './openApiDocument';

/** @param routes may still grow until the first request, which builds the document */
export function serveOpenApi(routes: readonly RegisteredRoute[]): RouteHandler {
  let document: JsonObject | undefined;
  return ({ request, response }) => {
    document ??= openApiDocument(routes);
    response.json({ ...document, servers: [{ url: request.baseUrl === '' ? '/' : request.baseUrl }] });
    return Promise.resolve();
  };
}
