/** The HTTP routes of `ai.mcpAccounts.*`. */
import type { HttpRequest } from '../http/HttpMessages';
import type { McpAccountOperations } from '../../business/ai/application/operations/McpAccountOperations';
import type { AddEndpoint } from '../http/Endpoint';
import { operationRoute } from '../http/operationRoute';

export function addMcpAccountRoutes(add: AddEndpoint, operations: Partial<McpAccountOperations>): readonly string[] {
  const {
    'ai.mcpAccounts.list': list,
    'ai.mcpAccounts.signIn': signIn,
    'ai.mcpAccounts.signOut': signOut,
  } = operations;
  if (list === undefined || signIn === undefined || signOut === undefined) return [];
  const path = '/mcp-accounts/:name';
  add('app', '/mcp-accounts', '/mcp-accounts', {
    method: 'get',
    scope: 'read',
    handler: operationRoute(list, () => ({})),
  });
  add('app', path, path, { method: 'delete', scope: 'generate', handler: operationRoute(signOut, ofServer) });
  add('app', `${path}/sign-in`, `${path}/sign-in`, {
    method: 'post',
    scope: 'generate',
    handler: operationRoute(signIn, ofServer),
  });
  return ['/mcp-accounts'];
}

function ofServer({ params }: HttpRequest): object {
  return { server: params['name'] };
}
