/**
 * WebApp: the app's Express handlers, followed by Meteor's own handler, which serves the app's page with 200 for
 * every other request. An error that a handler does not catch stops the process, as in Meteor if the handler
 * is async.
 */
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import express from 'express';

const PAGE = '<!DOCTYPE html><html><head></head><body></body></html>';

function build(): {
  readonly handlers: express.Express;
  readonly rawHandlers: express.Express;
  readonly httpServer: Server;
} {
  const app = express();
  const rawHandlers = express();
  const handlers = express();
  app.use(rawHandlers);
  app.use(handlers);
  app.use((request: express.Request, response: express.Response) => {
    if (request.method === 'GET' || request.method === 'HEAD') response.status(200).type('html').send(PAGE);
    else response.status(404).end();
  });
  app.use((error: unknown, _request: express.Request, response: express.Response, _next: express.NextFunction) => {
    response.destroy();
    setImmediate(() => {
      throw error;
    });
  });
  return { handlers, rawHandlers, httpServer: createServer(app) };
}

let built = build();

export const WebApp = {
  express,
  get handlers(): express.Express {
    return built.handlers;
  },
  get rawHandlers(): express.Express {
    return built.rawHandlers;
  },
  /** Not listening yet; a test listens on port 0. */
  get httpServer(): Server {
    return built.httpServer;
  },
};

/** Creates new handlers and a new server for the next test. */
export function resetWebApp(): void {
  built.httpServer.close();
  built = build();
}
