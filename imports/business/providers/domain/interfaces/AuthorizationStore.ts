/** Stores authorizations in progress. */
import type { PendingAuthorization } from '../entities/PendingAuthorization';

export interface AuthorizationStore {
  insert(pending: PendingAuthorization): Promise<void>;
  find(id: string): Promise<PendingAuthorization | undefined>;
  /** Marks it as used and deletes its secrets. @returns true for the first call only */
  use(id: string, now: number): Promise<boolean>;
  removeOfProvider(providerId: string): Promise<void>;
  /** @returns how many there were */
  removeOfUser(userId: string): Promise<number>;
}
