/** A vendor account that users of this app may call: whose it is, how it authenticates, who may use it and how much. */
import type { VendorName, WireName } from '../../../ai/domain/types/VendorTypes';
import type { OAuthSettings } from '../types/OAuthSettings';

export const AUTH_KINDS = ['api_key', 'user_api_key', 'oauth_app', 'oauth_user'] as const;
export type AuthKind = (typeof AUTH_KINDS)[number];

/**
 * One shared key · a key of each user's own · client credentials with one shared token · an account that each user
 * connects.
 */
export type ProviderAuth =
  | { readonly kind: 'api_key' }
  | { readonly kind: 'user_api_key' }
  | { readonly kind: 'oauth_app'; readonly oauth: OAuthSettings }
  | { readonly kind: 'oauth_user'; readonly oauth: OAuthSettings };

/** Who may use it; `list` holds user ids and roles. */
export type ProviderAccess =
  | { readonly kind: 'admins' }
  | { readonly kind: 'everyone' }
  | { readonly kind: 'list'; readonly users: readonly string[]; readonly roles: readonly string[] };

/** Per user; windows follow each other without a gap. */
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
  /** As the vendor's official SDK takes it; the vendor's own when absent. */
  readonly baseURL?: string;
  /** Azure's name for a model that was set up, and the version of its API. */
  readonly deployment?: string;
  readonly apiVersion?: string;
  readonly defaultModel?: string;
  /** All models when absent. */
  readonly allowedModels?: readonly string[];
  /** `system` or a user id. */
  readonly owner: string;
  readonly access: ProviderAccess;
  readonly limits?: ProviderLimits;
  readonly enabled: boolean;
  /** Of the server's own settings: changed there, with a key that is there. */
  readonly configured?: true;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

export const SYSTEM_OWNER = 'system';

/** The longest id, in characters; also of user ids. */
export const MAX_ID_LENGTH = 128;

/** An id stands in paths and in `providerId/model`; `callback` is a path of its own. */
export function isProviderId(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.length <= MAX_ID_LENGTH &&
    /^[A-Za-z0-9][A-Za-z0-9_.-]*$/.test(value) &&
    value !== 'callback'
  );
}

/** Whose secret opens the vendor's door: each user's own, or one for all. */
export function isPersonal(auth: ProviderAuth): boolean {
  return auth.kind === 'user_api_key' || auth.kind === 'oauth_user';
}
