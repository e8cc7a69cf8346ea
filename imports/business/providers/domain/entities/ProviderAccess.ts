/** Decides who may use a provider. Access is denied unless a rule grants it. */
import { unreachable } from '../../../ai/domain/util/unreachable';
import type { User } from '../../../ai/domain/types/Actor';
import type { Provider } from './Provider';

export type AccessDecision =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly reason: 'no-user' | 'disabled' | 'not-listed' | 'model-not-allowed' };

const ALLOWED: AccessDecision = { allowed: true };

/** @param model also checks whether this model is allowed */
export function decideAccess(provider: Provider, user: User | undefined, model?: string): AccessDecision {
  if (user === undefined || user.userId === '') return { allowed: false, reason: 'no-user' };
  if (!provider.enabled) return { allowed: false, reason: 'disabled' };
  if (!isAdmitted(provider, user)) return { allowed: false, reason: 'not-listed' };
  if (model !== undefined && provider.allowedModels?.includes(model) === false)
    return { allowed: false, reason: 'model-not-allowed' };
  return ALLOWED;
}

/** Admins, who could change the rule anyway, and the owner need no rule. */
function isAdmitted({ access, owner }: Provider, user: User): boolean {
  if (user.isAdmin === true || owner === user.userId) return true;
  switch (access.kind) {
    case 'admins':
      return false;
    case 'everyone':
      return true;
    case 'list':
      return access.users.includes(user.userId) || access.roles.some((role) => user.roles?.includes(role) === true);
    default:
      return unreachable(access);
  }
}

/** @returns the first of the vendor's own tools that the user may not use with this provider */
export function refusedHostedTool(
  { hostedTools, owner }: Provider,
  user: User | undefined,
  used: readonly string[],
): string | undefined {
  if (hostedTools === undefined || user?.isAdmin === true || owner === user?.userId) return undefined;
  return used.find((tool) => !hostedTools.includes(tool));
}
