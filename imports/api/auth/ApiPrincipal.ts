/** What the HTTP API authenticates: a user, and the scopes of the token or session presented. */
import { fieldsOf } from '../../business/ai/domain/json';
import type { Actor } from '../../business/ai/domain/types/Actor';

export const SCOPES = ['generate', 'read', 'admin'] as const;
/** `admin` includes the others. */
export type Scope = (typeof SCOPES)[number];

export interface ApiPrincipal {
  readonly userId: string;
  /** Absent for users who logged in: every scope except `admin`. */
  readonly scopes?: readonly Scope[];
  /** The API token that was presented. Absent for logins. */
  readonly token?: { readonly id: string; readonly name: string };
}

/** Hosts report a failed authentication in various ways; only an object with a user id counts as a principal. */
export function validPrincipal<P extends { readonly userId: string }>(authenticated: P | undefined): P | undefined {
  const { userId } = fieldsOf(authenticated);
  return typeof userId === 'string' && userId !== '' ? authenticated : undefined;
}

const USER_SCOPES: readonly Scope[] = ['generate', 'read'];

export function hasScope({ scopes = USER_SCOPES }: ApiPrincipal, scope: Scope): boolean {
  return scopes.includes(scope) || scopes.includes('admin');
}

/** Only logged-in users and admins manage accounts: a leaked API token must not be enough. */
export function isAccountManager(principal: ApiPrincipal): boolean {
  return principal.scopes === undefined || hasScope(principal, 'admin');
}

/**
 * The principal as the modules behind the API see it. API tokens carry no roles.
 * @param api the API that starts a run, for the request log
 */
export function toActor(principal: ApiPrincipal, api?: string): Actor {
  const { userId, token } = principal;
  const actor: Actor = { userId, isAdmin: hasScope(principal, 'admin'), source: 'http' };
  if (api === undefined) return actor;
  return {
    ...actor,
    origin: { api, ...(token === undefined ? {} : { tokenId: token.id, tokenName: token.name }) },
  };
}
