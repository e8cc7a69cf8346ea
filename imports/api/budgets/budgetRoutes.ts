/** `/budgets`: the operations `ai.budgets.*` over HTTP. */
import type { HttpRequest } from '../http/HttpMessages';
import type { BudgetOperations } from '../../business/ai/application/operations/BudgetOperations';
import { fieldsOf } from '../../business/ai/domain/json';
import type { AddEndpoint } from '../http/Endpoint';
import { operationRoute } from '../http/operationRoute';
import { queryArgument } from '../http/queryArgument';

/**
 * `/budgets` is the budget of everyone who has none of their own, `/budgets/:userId` that of a user,
 * `/budgets/teams/:team` that of a team.
 */
export function addBudgetRoutes(add: AddEndpoint, operations: Partial<BudgetOperations>): readonly string[] {
  const { 'ai.budgets.list': list, 'ai.budgets.set': set, 'ai.budgets.remove': remove } = operations;
  if (list === undefined || set === undefined || remove === undefined) return [];
  const ofUser = ({ params }: HttpRequest): object => ({ userId: params['userId'] });
  add(
    'app',
    '/budgets',
    '/budgets',
    { method: 'get', scope: 'read', handler: operationRoute(list, queryArgument()) },
    { method: 'post', scope: 'admin', handler: operationRoute(set, ({ body }) => body) },
    { method: 'delete', scope: 'admin', handler: operationRoute(remove, () => ({})) },
  );
  add(
    'app',
    '/budgets/:userId',
    '/budgets/:userId',
    {
      method: 'post',
      scope: 'admin',
      handler: operationRoute(set, (request) => ({ ...fieldsOf(request.body), ...ofUser(request) })),
    },
    { method: 'delete', scope: 'admin', handler: operationRoute(remove, ofUser) },
  );
  const ofTeam = ({ params }: HttpRequest): object => ({ team: params['team'] });
  add(
    'app',
    '/budgets/teams/:team',
    '/budgets/teams/:team',
    {
      method: 'post',
      scope: 'admin',
      handler: operationRoute(set, (request) => ({ ...fieldsOf(request.body), ...ofTeam(request) })),
    },
    { method: 'delete', scope: 'admin', handler: operationRoute(remove, ofTeam) },
  );
  return ['/budgets'];
}
