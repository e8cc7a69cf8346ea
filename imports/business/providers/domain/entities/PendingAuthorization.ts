/** A user who was sent to an authorization server and has not come back yet. */
import type { SealedBox } from './StoredCredential';

/** How long a user may take, in milliseconds. */
export const AUTHORIZATION_LIFETIME_MS = 10 * 60_000;

export interface PendingAuthorization {
  /** SHA-256 of the state or of the ticket: what is stored can't be used. */
  readonly _id: string;
  /** `ticket`: the user may start in a browser; `state`: the browser is at the server. */
  readonly stage: 'ticket' | 'state';
  readonly providerId: string;
  readonly userId: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Set once, by the first who presents it. */
  readonly usedAt?: number;
  /** SHA-256 of what the browser that started keeps in a cookie. */
  readonly bindingHash?: string;
  readonly destination?: string;
  readonly redirectUri?: string;
  /** PKCE's verifier and the nonce, sealed for this provider and user. */
  readonly box?: SealedBox;
}
