/** `/user-data`: users delete their own data, admins anybody's. */
import type { UserDataOperations } from '../../business/ai/application/operations/UserDataOperations';
import { LLMPermissionError } from '../../business/ai/domain/errors/LLMErrors';
import { isAccountManager, toActor } from '../auth/ApiPrincipal';
import type { AddEndpoint } from '../http/Endpoint';
import type { RouteHandler } from '../http/RequestContext';

export function addUserDataRoutes(
  add: AddEndpoint,
  { 'ai.users.deleteData': deleteData }: Partial<UserDataOperations>,
): readonly string[] {
  if (deleteData === undefined) return [];
  add('app', '/user-data/:userId', '/user-data/:userId', {
    method: 'delete',
    scope: 'generate',
    handler: deleteUserData(deleteData),
    isUncancellable: true,
  });
  return ['/user-data'];
}

/** Responds with `{ deleted }`: the numbers of documents by kind. */
function deleteUserData(deleteData: UserDataOperations['ai.users.deleteData']): RouteHandler {
  return async ({ principal, request, response }) => {
    if (!isAccountManager(principal))
      throw new LLMPermissionError('Deleting data requires a login or the scope "admin".');
    const { userId } = request.params;
    response.json(await deleteData(toActor(principal), { userId }));
  };
}
