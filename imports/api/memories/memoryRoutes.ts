/** The HTTP routes of `ai.memory.*`. */
import type { MemoryOperations } from '../../business/ai/application/operations/MemoryOperations';
import type { AddEndpoint } from '../http/Endpoint';
import { operationRoute } from '../http/operationRoute';
import { queryArgument } from '../http/queryArgument';

export function addMemoryRoutes(add: AddEndpoint, operations: Partial<MemoryOperations>): readonly string[] {
  const {
    'ai.memory.list': list,
    'ai.memory.search': search,
    'ai.memory.save': save,
    'ai.memory.forget': forget,
  } = operations;
  if (list === undefined || search === undefined || save === undefined || forget === undefined) return [];
  const page = queryArgument({ numbers: ['limit'] });
  add(
    'app',
    '/memories',
    '/memories',
    { method: 'get', scope: 'read', handler: operationRoute(list, page) },
    { method: 'post', scope: 'generate', handler: operationRoute(save, ({ body }) => body) },
    { method: 'delete', scope: 'generate', handler: operationRoute(forget, () => ({ all: true })) },
  );
  add('app', '/memories/search', '/memories/search', {
    method: 'get',
    scope: 'read',
    handler: operationRoute(search, page),
  });
  add('app', '/memories/:id', '/memories/:id', {
    method: 'delete',
    scope: 'generate',
    handler: operationRoute(forget, ({ params }) => ({ memoryId: params['id'] })),
  });
  return ['/memories'];
}
