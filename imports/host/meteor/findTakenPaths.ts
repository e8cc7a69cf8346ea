/** Finds what a handler of the app, which was added to `WebApp.handlers` first, answers in place of Bolide. */

/** One path of each kind that the HTTP API has. */
const PATHS = ['/v1/models', '/v1beta/models', '/api/runs', '/oauth/callback', '/mcp', '/health', '/metrics'] as const;

/** An application of Express 5, which Meteor has since 3.1. */
export interface ExpressHandlers {
  readonly router: { readonly stack: readonly HandlerLayer[] };
}

/** A handler in the list of a router. https://github.com/pillarjs/router/blob/2.0/lib/layer.js */
interface HandlerLayer {
  /** It was added without a path. */
  readonly slash: boolean;
  match(path: string): boolean;
}

/**
 * @param httpPath where the HTTP API is going to be mounted
 * @returns paths that the app handles first. Handlers of every path, such as loggers, do not count
 */
export function findTakenPaths({ router }: ExpressHandlers, httpPath: string): readonly string[] {
  return PATHS.map((path) => httpPath + path).filter((path) =>
    router.stack.some((layer) => !layer.slash && layer.match(path)),
  );
}
