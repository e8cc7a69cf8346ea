/** One sealed secret and what must be known of it without opening it. */
import { isPersonal } from './Provider';
import type { Provider } from './Provider';

/** `client`: the secret of this app at an authorization server. */
export type CredentialKind = 'api_key' | 'oauth' | 'client';

export interface CredentialId {
  readonly providerId: string;
  /** `null` for what all users share. */
  readonly userId: string | null;
  readonly kind: CredentialKind;
}

export interface SealedBox {
  readonly sealed: string;
  /** Which key of the ring sealed it. */
  readonly keyId: string;
}

/** Someone is getting a new token: `claimed` before the old one was shown to the server, `sent` from then on. */
export interface RefreshLease {
  readonly phase: 'claimed' | 'sent';
  /** By the holder's clock, in milliseconds since the epoch. */
  readonly until: number;
}

export interface StoredCredential extends CredentialId, SealedBox {
  readonly _id: string;
  readonly state: 'ready' | 'reconnect_required';
  /** Where the secret may be sent; what was given for one place opens for no other. */
  readonly destination: string;
  /** Made anew whenever a user connects or a key is set. */
  readonly grantId: string;
  /** Counts the tokens of one grant. */
  readonly generation: number;
  /** Milliseconds since the epoch; absent when nobody said. */
  readonly expiresAt?: number;
  readonly scopes?: readonly string[];
  readonly lease?: RefreshLease;
  readonly updatedAt: number;
  /** Goes up with every change: the fence that keeps out those who were paused. */
  readonly version: number;
}

/** What is in a box. */
export type SecretContent =
  | { readonly type: 'api_key'; readonly key: string }
  | { readonly type: 'client'; readonly secret: string }
  | { readonly type: 'tokens'; readonly accessToken: string; readonly refreshToken?: string };

/** The same id always has the same row: a unique key without an index of its own. */
export function credentialKey({ providerId, userId, kind }: CredentialId): string {
  return `${kind}/${encodeURIComponent(providerId)}/${userId === null ? '' : encodeURIComponent(userId)}`;
}

/** The credential that a user's calls need. */
export function credentialIdFor({ _id, auth }: Provider, userId: string): CredentialId {
  const isKey = auth.kind === 'api_key' || auth.kind === 'user_api_key' || auth.oauth.protocol === 'key_exchange';
  return { providerId: _id, userId: isPersonal(auth) ? userId : null, kind: isKey ? 'api_key' : 'oauth' };
}

/** Names one token: it changes with every refresh and every new connection. */
export function tokenRevision(row: StoredCredential): string {
  return `${row.grantId}/${row.generation}`;
}

/**
 * Everything that decides where a provider's secrets go, as one string to hash. An edit of it must not lead secrets
 * to a new place that were given for the old one.
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
