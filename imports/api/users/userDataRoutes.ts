/** `/user-data`: users delete their own data, admins anybody's. */
import type { UserDataOperations } from '../../business/ai/application/operations/UserDataOperations';
import { LLMPermissionError } from '../../business/ai/domain/errors/LLMErrors';
import { isAccountManager, toActor } from '../auth/ApiPrincipal';
import type { RouteHandler } from '../http/RequestContext';

export interface UserDataRoutePorts {
  readonly userData: UserDataOperations;
}

/** Responds with `{ deleted }`: the numbers of documents by kind. */
export function deleteUserData({ userData }: UserDataRoutePorts): RouteHandler {
  return async ({ principal, request, response }) => {
    if (!isAccountManager(principal))
      throw new LLMPermissionError('Deleting data requires a login or the scope "admin".');
    const { userId } = request.params;
    response.json(await userData['ai.users.deleteData'](toActor(principal), { userId }));
  };
}
