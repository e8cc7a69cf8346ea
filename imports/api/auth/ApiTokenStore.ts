/** Stores API tokens, as SHA-256 hashes only. */
import type { Scope } from './ApiPrincipal';

export interface StoredApiToken {
  /** The first 16 hexadecimal digits of the hash: enough to find a token, but useless for authentication. */
  readonly _id: string;
  /** SHA-256 of the token, in hexadecimal. */
  readonly hash: string;
  readonly userId: string;
  /** Chosen by its owner. */
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Milliseconds since the epoch. Absent: valid until revoked. */
  readonly expiresAt?: number;
  /** Accurate to a minute. Absent: never used. */
  readonly lastUsedAt?: number;
}

export interface ApiTokenStore {
  /** @throws ConflictError if the id is taken */
  insert(token: StoredApiToken): Promise<void>;
  find(id: string): Promise<StoredApiToken | undefined>;
  ofUser(userId: string): Promise<readonly StoredApiToken[]>;
  /** All users' tokens, newest first. */
  all(limit: number): Promise<readonly StoredApiToken[]>;
  setLastUsed(id: string, lastUsedAt: number): Promise<void>;
  /** @returns whether the user had such a token */
  remove(userId: string, id: string): Promise<boolean>;
  /** @returns how many tokens the user had */
  removeOfUser(userId: string): Promise<number>;
}
