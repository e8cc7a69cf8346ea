/** Where API tokens are kept: never as they are, always as their SHA-256. */
import type { Scope } from './ApiPrincipal';

export interface StoredApiToken {
  /** First 16 hexadecimal digits of the hash: enough to find a token, useless to whoever wants to use it. */
  readonly _id: string;
  /** SHA-256 of the token, in hexadecimal. */
  readonly hash: string;
  readonly userId: string;
  /** What its owner calls it. */
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Milliseconds since the epoch. Absent: until it is revoked. */
  readonly expiresAt?: number;
}

export interface ApiTokenStore {
  /** @throws ConflictError when the id is taken */
  insert(token: StoredApiToken): Promise<void>;
  find(id: string): Promise<StoredApiToken | undefined>;
  ofUser(userId: string): Promise<readonly StoredApiToken[]>;
  /** @returns whether the user had such a token */
  remove(userId: string, id: string): Promise<boolean>;
}
