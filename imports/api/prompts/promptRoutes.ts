/** `/models` and `/prompts`: what the playground chooses from. */
import type { HttpRequest } from '../http/HttpMessages';
import type { ModelOperations } from '../../business/ai/application/operations/ModelOperations';
import type { PromptOperations } from '../../business/ai/application/operations/PromptOperations';
import type { AddEndpoint } from '../http/Endpoint';
import { operationRoute } from '../http/operationRoute';
import { queryArgument } from '../http/queryArgument';

export function addModelRoutes(
  add: AddEndpoint,
  { 'ai.models.list': list }: Partial<ModelOperations>,
): readonly string[] {
  if (list === undefined) return [];
  add('app', '/models', '/models', { method: 'get', scope: 'read', handler: operationRoute(list, queryArgument()) });
  return ['/models'];
}

export function addPromptRoutes(add: AddEndpoint, operations: Partial<PromptOperations>): readonly string[] {
  const { 'ai.prompts.list': list, 'ai.prompts.get': get } = operations;
  const { 'ai.prompts.save': save, 'ai.prompts.remove': remove } = operations;
  if (list === undefined || get === undefined || save === undefined || remove === undefined) return [];
  add(
    'app',
    '/prompts',
    '/prompts',
    { method: 'get', scope: 'read', handler: operationRoute(list, queryArgument()) },
    { method: 'post', scope: 'generate', handler: operationRoute(save, ({ body }) => body) },
  );
  const version = queryArgument({ numbers: ['version'] });
  add(
    'app',
    '/prompts/:id',
    '/prompts/:id',
    {
      method: 'get',
      scope: 'read',
      handler: operationRoute(get, (request) => ({ ...version(request), ...promptIn(request) })),
    },
    { method: 'delete', scope: 'generate', handler: operationRoute(remove, promptIn) },
  );
  return ['/prompts'];
}

function promptIn({ params }: HttpRequest): { readonly promptId: unknown } {
  return { promptId: params['id'] };
}
