/** An HTTP server for an Express app whose requests and responses all have the same shape in memory. */
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import type { Server, ServerOptions } from 'node:http';
import type { Express, Request, Response } from 'express';
import { answerUnrouted } from './answerUnrouted';

/**
 * Express replaces the prototypes of every request and response by its own, which gives each of them a shape of its
 * own, so that the engine has to look up each of their fields anew. Here they have these prototypes from the start.
 */
export function createExpressServer(options: ServerOptions, app: Express): Server {
  class AppRequest extends IncomingMessage {}
  class AppResponse extends ServerResponse {}
  app.request = derived(AppRequest.prototype, app.request);
  app.response = derived(AppResponse.prototype, app.response);
  return createServer(
    { ...options, IncomingMessage: AppRequest, ServerResponse: AppResponse },
    // Boundary: the app gives its prototypes to both before a handler sees them.
    (request, response) =>
      app(request as Request, response as Response, (thrown?: unknown) => answerUnrouted(thrown, request, response)),
  );
}

/** The object, with what it inherits from the prototype. */
function derived<T extends object>(object: object, prototype: T): T {
  Object.setPrototypeOf(object, prototype);
  // Boundary: TypeScript does not know prototypes.
  return object as T;
}
