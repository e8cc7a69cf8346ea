/** The HTTP routes of `ai.batches.*`. Those of vendors' clients are `/v1/batches` and `/v1/messages/batches`. */
import type { BatchOperations } from '../../business/ai/application/operations/BatchOperations';
import type { AddEndpoint } from '../http/Endpoint';
import { operationRoute } from '../http/operationRoute';
import { queryArgument } from '../http/queryArgument';

export function addBatchRoutes(add: AddEndpoint, operations: Partial<BatchOperations>): readonly string[] {
  const {
    'ai.batches.create': create,
    'ai.batches.get': get,
    'ai.batches.list': list,
    'ai.batches.cancel': cancel,
    'ai.batches.results': results,
  } = operations;
  if (!create || !get || !list || !cancel || !results) return [];
  const page = queryArgument({ numbers: ['limit', 'from'] });
  add(
    'app',
    '/batches',
    '/batches',
    { method: 'get', scope: 'read', handler: operationRoute(list, page) },
    { method: 'post', scope: 'generate', handler: operationRoute(create, ({ body }) => body, 202) },
  );
  add('app', '/batches/:id', '/batches/:id', {
    method: 'get',
    scope: 'read',
    handler: operationRoute(get, ({ params }) => ({ batchId: params['id'] })),
  });
  add('app', '/batches/:id/cancel', '/batches/:id/cancel', {
    method: 'post',
    scope: 'generate',
    handler: operationRoute(cancel, ({ params }) => ({ batchId: params['id'] })),
  });
  add('app', '/batches/:id/results', '/batches/:id/results', {
    method: 'get',
    scope: 'read',
    handler: operationRoute(results, (request) => ({ ...page(request), batchId: request.params['id'] })),
  });
  return ['/batches'];
}
