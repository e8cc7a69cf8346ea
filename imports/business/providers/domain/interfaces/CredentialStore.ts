/** Where sealed credentials are kept. Every change names the version that it was made from. */
import type { CredentialId, RefreshLease, SealedBox, StoredCredential } from '../entities/StoredCredential';

export type NewCredential = Omit<
  StoredCredential,
  '_id' | 'version' | 'lease' | 'generation' | 'grantId' | 'updatedAt'
>;

/** Fields that are not named stay; `null` takes a field away. */
export interface CredentialChange {
  readonly box?: SealedBox;
  readonly state?: StoredCredential['state'];
  readonly generation?: number;
  readonly expiresAt?: number | null;
  readonly scopes?: readonly string[];
  readonly lease?: RefreshLease | null;
}

export interface CredentialStore {
  find(id: CredentialId): Promise<StoredCredential | undefined>;
  /** Puts a new grant in the place of whatever is there. */
  put(credential: NewCredential): Promise<void>;
  /** Adds a row unless there is one. */
  add(credential: NewCredential): Promise<void>;
  /** @returns the row's new version, or undefined when it has moved on since it was read or is gone */
  change(
    row: Pick<StoredCredential, '_id' | 'grantId' | 'version'>,
    change: CredentialChange,
  ): Promise<number | undefined>;
  /** Another key for the same content; nobody's version changes. @returns whether the box was still there */
  reseal(row: StoredCredential, box: SealedBox): Promise<boolean>;
  /** @returns the row that is gone now, or undefined when there was none */
  take(id: CredentialId): Promise<StoredCredential | undefined>;
  ofProvider(providerId: string): Promise<readonly StoredCredential[]>;
  /** What a user has, and what all share. */
  ofUser(userId: string): Promise<readonly StoredCredential[]>;
  notSealedWith(keyId: string): Promise<readonly StoredCredential[]>;
}
