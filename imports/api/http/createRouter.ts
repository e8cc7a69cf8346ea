/** Creates the routers of the API. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpErrorHandler, HttpHandler, Next } from './HttpMessages';

/** Express, as far as routers need it. */
export interface RouterFactory {
  readonly Router: () => unknown;
}

type AddRoute = (path: string | RegExp, ...handlers: readonly HttpHandler[]) => unknown;

/** A handler of Node's requests that can be mounted in an app of Express. */
export interface HttpRouter {
  (request: IncomingMessage, response: ServerResponse, next: Next): void;
  use(...handlers: readonly HttpHandler[]): unknown;
  use(path: string | RegExp, ...handlers: readonly HttpHandler[]): unknown;
  use(handler: HttpErrorHandler): unknown;
  use(path: string | RegExp, handler: HttpErrorHandler): unknown;
  readonly all: AddRoute;
  readonly delete: AddRoute;
  readonly get: AddRoute;
  readonly head: AddRoute;
  readonly post: AddRoute;
}

/** @param express whose router is used. Default: the same one, from its own package. https://github.com/pillarjs/router */
export function createRouter(express?: RouterFactory): HttpRouter {
  // Boundary: the host's requests and responses are those of `HttpMessages`, which routers do not know.
  if (express !== undefined) return express.Router() as HttpRouter;
  // Loaded with the first API. The npm package contains it, so it has no `require`.
  // oxlint-disable-next-line typescript/no-require-imports
  const Router = require('router') as typeof import('router');
  return Router() as HttpRouter;
}
