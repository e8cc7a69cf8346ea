/** Stores API tokens, as SHA-256 hashes only. */
import type { ApiTokenLimits } from '../../business/ai/domain/types/ApiTokenLimits';
import type { Scope } from './ApiPrincipal';

/** What can be changed. Empty limits are absent. */
export interface ApiTokenFields extends ApiTokenLimits {
  /** Chosen by its owner. */
  readonly name: string;
  /** Whose budget its calls are charged to, besides that of the owner. Set by admins. */
  readonly team?: string;
  /** For people and their tools. */
  readonly tags?: readonly string[];
  /** Milliseconds since the epoch. Absent: valid until revoked. */
  readonly expiresAt?: number;
}

export interface StoredApiToken extends ApiTokenFields {
  /** The first 16 hexadecimal digits of the first hash: enough to find a token, but useless for authentication. */
  readonly _id: string;
  /** SHA-256 of the token, in hexadecimal. Empty once it is revoked. */
  readonly hash: string;
  /** The first 16 hexadecimal digits of the hash, if the token was rotated. */
  readonly prefix?: string;
  /** The secret before the last rotation, for as long as it remains valid. */
  readonly previous?: PreviousSecret;
  readonly userId: string;
  readonly scopes: readonly Scope[];
  /** Present for what a user has granted to a client of `/mcp`: such a token is valid nowhere else. */
  readonly grant?: TokenGrant;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Absent: its owner, or an admin whose data is deleted. */
  readonly createdBy?: string;
  /** An admin has set its limits, so its owner cannot change them. */
  readonly isManaged?: true;
  /** Milliseconds since the epoch. */
  readonly changedAt?: number;
  readonly changedBy?: string;
  /** Milliseconds since the epoch. */
  readonly rotatedAt?: number;
  /** Milliseconds since the epoch. A revoked token is not listed; it remains so that runs it started end. */
  readonly revokedAt?: number;
  /** Accurate to a minute. Absent: never used. */
  readonly lastUsedAt?: number;
}

export interface TokenGrant {
  /** Where the client receives its codes, as people are shown it. */
  readonly client: string;
  /** A hash of the code that it was issued for. */
  readonly code: string;
}

export interface PreviousSecret {
  readonly hash: string;
  /** The first 16 hexadecimal digits of the hash. */
  readonly prefix: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** The fields of a change. Undefined ones are removed. */
export type ApiTokenChange = { readonly [F in keyof StoredApiToken]?: StoredApiToken[F] | undefined };

export interface ApiTokenStore {
  /** @throws ConflictError if the id is taken */
  insert(token: StoredApiToken): Promise<void>;
  /** Finds revoked ones, too. */
  find(id: string): Promise<StoredApiToken | undefined>;
  /** By the first digits of the hash of the current or the previous secret. */
  findByPrefix(prefix: string): Promise<StoredApiToken | undefined>;
  ofUser(userId: string): Promise<readonly StoredApiToken[]>;
  /** All users' tokens, newest first. */
  all(limit: number): Promise<readonly StoredApiToken[]>;
  setLastUsed(id: string, lastUsedAt: number): Promise<void>;
  /**
   * Changes a token that is not revoked.
   * @param userId its owner; undefined: anyone
   * @returns the token after the change, or undefined if there is no such token
   */
  change(id: string, userId: string | undefined, change: ApiTokenChange): Promise<StoredApiToken | undefined>;
  /** Removes the user as author of other tokens, too. @returns how many tokens the user had */
  removeOfUser(userId: string): Promise<number>;
}
