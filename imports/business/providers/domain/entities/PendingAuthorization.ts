/** An authorization in progress: a user was sent to an authorization server and has not come back yet. */
import type { SealedBox } from './StoredCredential';

/** How long a user may take. */
export const AUTHORIZATION_LIFETIME_MS = 10 * 60_000;

export interface PendingAuthorization {
  /** SHA-256 of the state or ticket, so that a leaked row can't be used. */
  readonly _id: string;
  /** `ticket`: the user may start in a browser; `state`: the browser is at the server. */
  readonly stage: 'ticket' | 'state';
  readonly providerId: string;
  readonly userId: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** When the state or ticket was used, in milliseconds since the epoch. */
  readonly usedAt?: number;
  /** SHA-256 of the binding cookie of the browser that started. */
  readonly bindingHash?: string;
  readonly destination?: string;
  readonly redirectUri?: string;
  /** The PKCE verifier and the nonce, sealed for this provider and user. */
  readonly box?: SealedBox;
}
