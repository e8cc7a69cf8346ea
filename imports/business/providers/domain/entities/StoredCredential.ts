/** A sealed secret, with what must be readable without opening it. */
import { isPersonal } from './Provider';
import type { Provider } from './Provider';

/** `client`: this app's client secret at an authorization server. */
export type CredentialKind = 'api_key' | 'oauth' | 'client';

export interface CredentialId {
  readonly providerId: string;
  /** `null` for a credential that all users share. */
  readonly userId: string | null;
  readonly kind: CredentialKind;
}

export interface SealedBox {
  readonly sealed: string;
  /** The key that sealed it. */
  readonly keyId: string;
}

/**
 * The right to refresh a token: `claimed` until the old token is about to be sent to the server, `sent` from then
 * on.
 */
export interface RefreshLease {
  readonly phase: 'claimed' | 'sent';
  /** By the holder's clock, in milliseconds since the epoch. */
  readonly until: number;
}

/**
 * Why a user must connect again: the server refused to renew the token; the token ran out, and its server issued no
 * refresh token; or the answer to an earlier refresh, with the new token, was never stored, as when its process was
 * killed.
 */
export type ReconnectReason = 'refused' | 'expired' | 'interrupted';

export interface StoredCredential extends CredentialId, SealedBox {
  readonly _id: string;
  readonly state: 'ready' | 'reconnect_required';
  /** Absent for a usable credential, and for those that were lost before reasons were kept. */
  readonly reconnectReason?: ReconnectReason;
  /** The refresh token was sent, and what came of it is not known: it may be used up. */
  readonly isUnanswered?: true;
  /** A hash of where the secret may be sent. It does not open for any other destination. */
  readonly destination: string;
  /** New whenever a user connects or a key is set. */
  readonly grantId: string;
  /** Incremented with each refresh of the grant. */
  readonly generation: number;
  /** Milliseconds since the epoch. Absent if the server did not state it. */
  readonly expiresAt?: number;
  readonly scopes?: readonly string[];
  readonly lease?: RefreshLease;
  readonly updatedAt: number;
  /** Incremented with every change: the fencing token against processes that were paused. */
  readonly version: number;
}

/** The content of a sealed box. */
export type SecretContent =
  | { readonly type: 'api_key'; readonly key: string }
  | { readonly type: 'client'; readonly secret: string }
  | { readonly type: 'tokens'; readonly accessToken: string; readonly refreshToken?: string };

/** The row's `_id`, which makes credential ids unique without a further index. */
export function credentialKey({ providerId, userId, kind }: CredentialId): string {
  return `${kind}/${encodeURIComponent(providerId)}/${userId === null ? '' : encodeURIComponent(userId)}`;
}

/** The id of the credential for a user's calls. */
export function credentialIdFor({ _id, auth }: Provider, userId: string): CredentialId {
  const isKey = auth.kind === 'api_key' || auth.kind === 'user_api_key' || auth.oauth.protocol === 'key_exchange';
  return { providerId: _id, userId: isPersonal(auth) ? userId : null, kind: isKey ? 'api_key' : 'oauth' };
}

/** Identifies the stored token: changes with every refresh and every new connection. */
export function tokenRevision(row: StoredCredential): string {
  return `${row.grantId}/${row.generation}`;
}

/**
 * Serializes everything that decides where a provider's secrets are sent. After a change of any of it, secrets that
 * were entered for the old server must not be sent to the new one.
 */
export function serializeDestination({
  vendor,
  auth,
  baseURL,
  deployment,
}: Pick<Provider, 'vendor' | 'auth' | 'baseURL' | 'deployment'>): string {
  const common = [auth.kind, vendor, baseURL ?? null, deployment ?? null];
  if (auth.kind === 'api_key' || auth.kind === 'user_api_key') return JSON.stringify(common);
  const { protocol, issuer, discovery, authorizationEndpoint, tokenEndpoint, revocationEndpoint, clientId } =
    auth.oauth;
  const server = [
    protocol,
    issuer,
    discovery,
    authorizationEndpoint ?? null,
    tokenEndpoint ?? null,
    revocationEndpoint ?? null,
    clientId,
  ];
  return JSON.stringify([...common, ...server]);
}
