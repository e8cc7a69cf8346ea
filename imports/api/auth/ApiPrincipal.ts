/** What the HTTP API authenticates: a user, and the scopes of the token or session presented. */
import { fieldsOf } from '../../business/ai/domain/util/json';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import type { Actor } from '../../business/ai/domain/types/Actor';
import type { ActorClient } from '../../business/ai/domain/types/ActorClient';
import type { CallOrigin } from '../../business/ai/domain/types/RequestRecords';

export const SCOPES = ['generate', 'read', 'approve', 'admin'] as const;
/** `admin` includes the others. */
export type Scope = (typeof SCOPES)[number];

export interface ApiPrincipal {
  readonly userId: string;
  /** Absent for users who logged in: every scope except `admin`. */
  readonly scopes?: readonly Scope[];
  /** The API token that was presented. Absent for logins. */
  readonly token?: PresentedToken;
  /** From where the request came. Filled in by the routes. */
  readonly client?: ActorClient;
  /** The stored session of the dashboard that the request belongs to. */
  readonly sessionId?: string;
}

export interface PresentedToken {
  readonly id: string;
  readonly name: string;
  readonly team?: string;
  /** The models that the token may use. Absent: all that its owner may use. */
  readonly models?: readonly string[];
}

/** Hosts report a failed authentication in various ways; only an object with a user id counts as a principal. */
export function validPrincipal<P extends { readonly userId: string }>(authenticated: P | undefined): P | undefined {
  const { userId } = fieldsOf(authenticated);
  return typeof userId === 'string' && userId !== '' ? authenticated : undefined;
}

const USER_SCOPES: readonly Scope[] = ['generate', 'read', 'approve'];

export function hasScope({ scopes = USER_SCOPES }: ApiPrincipal, scope: Scope): boolean {
  return scopes.includes(scope) || scopes.includes('admin');
}

/** Only logged-in users and admins manage accounts: a leaked API token must not be enough. */
function isAccountManager(principal: ApiPrincipal): boolean {
  return principal.scopes === undefined || hasScope(principal, 'admin');
}

/**
 * The principal as the modules behind the API see it. API tokens carry no roles.
 * @param api the API that starts a run, for the request log
 */
export function toActor(principal: ApiPrincipal, api?: string): Actor {
  const { userId, token, client } = principal;
  const actor: Actor = omitUndefined({
    userId,
    isAdmin: hasScope(principal, 'admin'),
    source: 'http',
    mayDecide: hasScope(principal, 'approve') ? undefined : false,
    mayManageAccount: isAccountManager(principal) ? undefined : false,
    tokenId: token?.id,
    client,
  });
  return api === undefined ? actor : { ...actor, origin: { api, ...tokenOrigin(principal) } };
}

/** The token that was presented, as the request log names it. */
export function tokenOrigin({ token }: ApiPrincipal): Pick<CallOrigin, 'tokenId' | 'tokenName' | 'team'> {
  if (token === undefined) return {};
  const { id, name, team } = token;
  return omitUndefined({ tokenId: id, tokenName: name, team });
}
