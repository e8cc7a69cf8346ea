/** `/inbox`, and calls with their complete arguments: what waits for people and other services. */
import type { InboxOperations } from '../../business/ai/application/operations/InboxOperations';
import type { AddEndpoint } from '../http/Endpoint';
import { operationRoute } from '../http/operationRoute';
import { queryArgument } from '../http/queryArgument';

export function addInboxRoutes(
  add: AddEndpoint,
  { 'ai.inbox.list': list, 'ai.inbox.dismiss': dismiss, 'ai.runs.getCall': getCall }: Partial<InboxOperations>,
): readonly string[] {
  if (list === undefined || dismiss === undefined || getCall === undefined) return [];
  add('app', '/inbox', '/inbox', {
    method: 'get',
    scope: 'read',
    handler: operationRoute(list, queryArgument({ numbers: ['limit'] })),
  });
  add('app', '/inbox/:id/dismiss', '/inbox/:id/dismiss', {
    method: 'post',
    scope: 'generate',
    readsBody: false,
    handler: operationRoute(dismiss, ({ params: { id } }) => ({ executionId: id })),
  });
  add('app', '/runs/:id/calls/:callId', '/runs/:id/calls/:callId', {
    method: 'get',
    scope: 'read',
    handler: operationRoute(getCall, ({ params: { id, callId } }) => ({ executionId: id, callId })),
  });
  return ['/inbox'];
}
