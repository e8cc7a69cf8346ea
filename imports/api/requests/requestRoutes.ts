/** `/requests`: the log of model calls. */
import type { RequestOperations } from '../../business/ai/application/operations/RequestOperations';
import type { AddEndpoint } from '../http/Endpoint';
import { operationRoute } from '../http/operationRoute';
import { queryArgument } from '../http/queryArgument';

export function addRequestRoutes(
  add: AddEndpoint,
  { 'ai.requests.list': list, 'ai.requests.get': get }: Partial<RequestOperations>,
): readonly string[] {
  if (list === undefined || get === undefined) return [];
  add('app', '/requests', '/requests', {
    method: 'get',
    scope: 'read',
    handler: operationRoute(
      list,
      queryArgument({
        numbers: ['from', 'to', 'minCost', 'maxCost', 'minDuration', 'maxDuration', 'limit'],
        lists: ['state'],
      }),
    ),
  });
  add('app', '/requests/:id', '/requests/:id', {
    method: 'get',
    scope: 'read',
    handler: operationRoute(get, ({ params: { id } }) => ({ requestId: id })),
  });
  return ['/requests'];
}
