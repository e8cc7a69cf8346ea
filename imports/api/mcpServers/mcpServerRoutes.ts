/** The HTTP routes of `ai.mcpServers.*`. */
import type { HttpRequest } from '../http/HttpMessages';
import type { McpServerOperations } from '../../business/ai/application/operations/McpServerOperations';
import { fieldsOf } from '../../business/ai/domain/json';
import type { AddEndpoint } from '../http/Endpoint';
import { operationRoute } from '../http/operationRoute';

export function addMcpServerRoutes(add: AddEndpoint, operations: Partial<McpServerOperations>): readonly string[] {
  const {
    'ai.mcpServers.list': list,
    'ai.mcpServers.get': get,
    'ai.mcpServers.save': save,
    'ai.mcpServers.remove': remove,
  } = operations;
  if (list === undefined || get === undefined || save === undefined || remove === undefined) return [];
  const path = '/mcp-servers/:name';
  add('app', '/mcp-servers', '/mcp-servers', {
    method: 'get',
    scope: 'admin',
    handler: operationRoute(list, () => ({})),
  });
  add(
    'app',
    path,
    path,
    { method: 'get', scope: 'admin', handler: operationRoute(get, named) },
    { method: 'post', scope: 'admin', handler: operationRoute(save, withBody) },
    { method: 'delete', scope: 'admin', handler: operationRoute(remove, named) },
  );
  for (const [action, operation, readArgument] of [
    ['switch', operations['ai.mcpServers.setEnabled'], withBody],
    ['test', operations['ai.mcpServers.test'], withBody],
    ['reconnect', operations['ai.mcpServers.reconnect'], named],
    ['approve', operations['ai.mcpServers.approve'], withBody],
    ['tool', operations['ai.mcpServers.setTool'], withBody],
  ] as const) {
    if (operation === undefined) continue;
    add('app', `${path}/${action}`, `${path}/${action}`, {
      method: 'post',
      scope: 'admin',
      handler: operationRoute(operation, readArgument),
    });
  }
  return ['/mcp-servers'];
}

function named({ params }: HttpRequest): object {
  return { name: params['name'] };
}

function withBody({ body, params }: HttpRequest): object {
  return { ...fieldsOf(body), name: params['name'] };
}
