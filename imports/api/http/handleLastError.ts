/** Answers what no route could handle, such as a path that cannot be decoded, in the shape of the path's API. */
import type { HttpErrorHandler } from './HttpMessages';
import { apiOfPath } from './apiOfPath';
import { createRoute } from './createRoute';
import type { RoutePorts } from './createRoute';
import { HttpError } from './HttpError';

/** Keeps Express and Meteor from answering with a page that shows the stack. */
export function handleLastError(ports: RoutePorts): HttpErrorHandler {
  return (thrown: unknown, request, response, next) => {
    const error =
      thrown instanceof URIError
        ? new HttpError(400, 'The path is invalid: a percent sign in it is not followed by a valid code.')
        : thrown;
    // A cause that is no Error cannot be the reason of a promise; `toError` takes anything.
    const route = createRoute(ports, { api: apiOfPath, name: 'invalid' }, undefined, () =>
      Promise.reject(error instanceof Error ? error : new Error('A middleware failed without an Error.')),
    );
    route(request, response, next);
  };
}
