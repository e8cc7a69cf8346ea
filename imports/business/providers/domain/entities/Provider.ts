/** A vendor account that users of this app may call: its owner, authentication, access rules and limits. */
import type { VendorName, WireName } from '../../../ai/domain/types/VendorTypes';
import type { OAuthSettings } from '../types/OAuthSettings';

export const AUTH_KINDS = ['api_key', 'user_api_key', 'oauth_app', 'oauth_user'] as const;
export type AuthKind = (typeof AUTH_KINDS)[number];

/**
 * `api_key`: one shared key. `user_api_key`: a key per user. `oauth_app`: client credentials with one shared token.
 * `oauth_user`: an account that each user connects.
 */
export type ProviderAuth =
  | { readonly kind: 'api_key' }
  | { readonly kind: 'user_api_key' }
  | { readonly kind: 'oauth_app'; readonly oauth: OAuthSettings }
  | { readonly kind: 'oauth_user'; readonly oauth: OAuthSettings };

/** Who may use a provider, besides admins and its owner. */
export type ProviderAccess =
  | { readonly kind: 'admins' }
  | { readonly kind: 'everyone' }
  | { readonly kind: 'list'; readonly users: readonly string[]; readonly roles: readonly string[] };

/** Per user and fixed window. */
export interface ProviderLimits {
  readonly windowMs: number;
  readonly requests?: number;
  readonly tokens?: number;
}

export interface Provider {
  readonly _id: string;
  readonly name: string;
  readonly vendor: VendorName;
  readonly auth: ProviderAuth;
  readonly wire?: WireName;
  /** In the form that the vendor's official SDK takes. Default: the vendor's own server. */
  readonly baseURL?: string;
  /** Azure's name for a deployed model, and its API version. */
  readonly deployment?: string;
  readonly apiVersion?: string;
  readonly defaultModel?: string;
  /** Absent: all models. */
  readonly allowedModels?: readonly string[];
  /** What everyone may name of the objects in a shared account: ids, or the beginnings of ids with a `*`. */
  readonly sharedObjects?: readonly string[];
  /** The only tools of the vendor's own that callers may use, such as `web_search`. Absent: all. */
  readonly hostedTools?: readonly string[];
  /** A user id, or `system`. */
  readonly owner: string;
  readonly access: ProviderAccess;
  readonly limits?: ProviderLimits;
  readonly enabled: boolean;
  /** Defined in the server's settings, including its key, and therefore read-only. */
  readonly configured?: true;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

export const SYSTEM_OWNER = 'system';

/** In characters; also for user ids. */
export const MAX_ID_LENGTH = 128;

/** Ids appear in paths and in `providerId/model`. `callback` is reserved, because `/oauth/callback` is a route. */
export function isProviderId(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.length <= MAX_ID_LENGTH &&
    /^[A-Za-z0-9][A-Za-z0-9_.-]*$/.test(value) &&
    value !== 'callback'
  );
}

/** Whether each user has a credential of their own, rather than all sharing one. */
export function isPersonal(auth: Pick<ProviderAuth, 'kind'>): boolean {
  return auth.kind === 'user_api_key' || auth.kind === 'oauth_user';
}
