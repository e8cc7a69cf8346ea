/** `/routing`: the operations `ai.routing.*` over HTTP. */
import type { RoutingOperations } from '../../business/ai/application/operations/RoutingOperations';
import { fieldsOf } from '../../business/ai/domain/json';
import type { AddEndpoint } from '../http/Endpoint';
import { operationRoute } from '../http/operationRoute';

export function addRoutingRoutes(add: AddEndpoint, operations: Partial<RoutingOperations>): readonly string[] {
  const { 'ai.routing.list': list, 'ai.routing.save': save, 'ai.routing.remove': remove } = operations;
  if (list === undefined || save === undefined || remove === undefined) return [];
  add('app', '/routing', '/routing', { method: 'get', scope: 'admin', handler: operationRoute(list, () => ({})) });
  add(
    'app',
    '/routing/:name',
    '/routing/:name',
    {
      method: 'post',
      scope: 'admin',
      handler: operationRoute(save, ({ body, params }) => ({ ...fieldsOf(body), name: params['name'] })),
    },
    { method: 'delete', scope: 'admin', handler: operationRoute(remove, ({ params }) => ({ name: params['name'] })) },
  );
  return ['/routing'];
}
