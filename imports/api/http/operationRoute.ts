/** Serves an operation over HTTP: reads its argument from the request, and responds with its result as JSON. */
import type { HttpRequest } from './HttpMessages';
import type { Operation } from '../../business/ai/domain/types/Operation';
import { toActor } from '../auth/ApiPrincipal';
import type { RouteHandler } from './RequestContext';

/** @param argumentOf reads the argument, such as `queryArgument` for GET; the operation validates it */
export function operationRoute(
  operation: Operation,
  argumentOf: (request: HttpRequest) => unknown,
  status = 200,
): RouteHandler {
  return async ({ principal, request, response }) => {
    response.status(status).json(await operation(toActor(principal), argumentOf(request)));
  };
}
