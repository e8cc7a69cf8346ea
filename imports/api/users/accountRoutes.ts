/** `/me`: who the caller is, as `ai.users.me`. */
import { LLMAuthError } from '../../business/ai/domain/errors/LLMErrors';
import type { Operation } from '../../business/ai/domain/types/Operation';
import type { AddEndpoint } from '../http/Endpoint';
import { operationRoute } from '../http/operationRoute';

export interface AccountOperations {
  /** @throws LLMAuthError if nobody is logged in */
  readonly 'ai.users.me': Operation<{ readonly userId: string; readonly isAdmin: boolean }>;
}

export const ACCOUNT_OPERATIONS: AccountOperations = {
  'ai.users.me': ({ userId, isAdmin = false }) =>
    userId === '' ? Promise.reject(new LLMAuthError('You must be logged in.')) : Promise.resolve({ userId, isAdmin }),
};

export function addAccountRoutes(
  add: AddEndpoint,
  { 'ai.users.me': me }: Partial<AccountOperations>,
): readonly string[] {
  if (me === undefined) return [];
  add('app', '/me', '/me', { method: 'get', scope: 'read', handler: operationRoute(me, () => ({})) });
  return [];
}
