/** `/usage`: reports over time. */
import type { UsageOperations } from '../../business/ai/application/operations/UsageOperations';
import type { AddEndpoint } from '../http/Endpoint';
import { operationRoute } from '../http/operationRoute';
import { queryArgument } from '../http/queryArgument';

export function addUsageRoutes(
  add: AddEndpoint,
  { 'ai.usage.report': report }: Partial<UsageOperations>,
): readonly string[] {
  if (report === undefined) return [];
  add('app', '/usage', '/usage', {
    method: 'get',
    scope: 'read',
    handler: operationRoute(report, queryArgument({ numbers: ['from', 'to', 'utcOffset'] })),
  });
  return ['/usage'];
}
