/** `/queue` and `/schedules`: the operations `ai.queue.*` and `ai.schedules.*` over HTTP. */
import type { HttpRequest } from '../http/HttpMessages';
import type { QueueOperations } from '../../business/ai/application/operations/QueueOperations';
import type { Operation } from '../../business/ai/domain/types/Operation';
import { toActor } from '../auth/ApiPrincipal';
import type { Scope } from '../auth/ApiPrincipal';
import type { AddEndpoint } from '../http/Endpoint';
import { operationRoute } from '../http/operationRoute';
import { queryArgument } from '../http/queryArgument';

export function addQueueRoutes(add: AddEndpoint, operations: Partial<QueueOperations>): readonly string[] {
  if (!hasAll(operations)) return [];
  const act = (path: string, scope: Scope, operation: Operation, argumentOf: (request: HttpRequest) => unknown): void =>
    add('app', path, path, { method: 'post', scope, readsBody: false, handler: operationRoute(operation, argumentOf) });
  const nothing = (): object => ({});
  const byName = ({ params }: HttpRequest): object => ({ name: params['name'] });
  const list = operationRoute(operations['ai.queue.list'], queryArgument({ numbers: ['limit'] }));
  add('app', '/queue', '/queue', { method: 'get', scope: 'read', handler: list });
  act('/queue/pause', 'admin', operations['ai.queue.pause'], nothing);
  act('/queue/resume', 'admin', operations['ai.queue.resume'], nothing);
  act('/queue/runs/:id/run-now', 'generate', operations['ai.queue.runNow'], ({ params }) => ({
    executionId: params['id'],
  }));
  add('app', '/schedules', '/schedules', {
    method: 'get',
    scope: 'admin',
    handler: async ({ principal, response }) => {
      response.json({ schedules: await operations['ai.schedules.list'](toActor(principal), {}) });
    },
  });
  act('/schedules/:name/pause', 'admin', operations['ai.schedules.pause'], byName);
  act('/schedules/:name/resume', 'admin', operations['ai.schedules.resume'], byName);
  act('/schedules/:name/run-now', 'admin', operations['ai.schedules.runNow'], byName);
  return ['/queue', '/schedules'];
}

/** A host has all of them or none. */
function hasAll(operations: Partial<QueueOperations>): operations is QueueOperations {
  return operations['ai.queue.list'] !== undefined;
}
