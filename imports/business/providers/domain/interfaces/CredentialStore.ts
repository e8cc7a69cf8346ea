/** Stores sealed credentials. Every change states the version that it is based on. */
import type {
  CredentialId,
  ReconnectReason,
  RefreshLease,
  SealedBox,
  StoredCredential,
} from '../entities/StoredCredential';

export type NewCredential = Omit<
  StoredCredential,
  '_id' | 'version' | 'lease' | 'generation' | 'grantId' | 'updatedAt'
>;

/** Omitted fields stay; `null` removes a field. */
export interface CredentialChange {
  readonly box?: SealedBox;
  readonly state?: StoredCredential['state'];
  readonly reconnectReason?: ReconnectReason | null;
  readonly isUnanswered?: true | null;
  readonly generation?: number;
  readonly expiresAt?: number | null;
  readonly scopes?: readonly string[];
  readonly lease?: RefreshLease | null;
}

export interface CredentialStore {
  find(id: CredentialId): Promise<StoredCredential | undefined>;
  /** Stores a new grant, replacing any existing one. */
  put(credential: NewCredential): Promise<void>;
  /** Adds a row unless one exists. */
  add(credential: NewCredential): Promise<void>;
  /** @returns the row's new version, or undefined if it was changed or removed since it was read */
  change(
    row: Pick<StoredCredential, '_id' | 'grantId' | 'version'>,
    change: CredentialChange,
  ): Promise<number | undefined>;
  /** Replaces the box by one with the same content, without a new version. @returns false if the box has changed */
  reseal(row: StoredCredential, box: SealedBox): Promise<boolean>;
  /** Removes a row. @returns the removed row, or undefined if there was none */
  take(id: CredentialId): Promise<StoredCredential | undefined>;
  ofProvider(providerId: string): Promise<readonly StoredCredential[]>;
  /** The user's own credentials and the shared ones. */
  ofUser(userId: string): Promise<readonly StoredCredential[]>;
  notSealedWith(keyId: string): Promise<readonly StoredCredential[]>;
}
