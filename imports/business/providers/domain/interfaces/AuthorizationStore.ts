/** Where users who are away at an authorization server are remembered. */
import type { PendingAuthorization } from '../entities/PendingAuthorization';

export interface AuthorizationStore {
  insert(pending: PendingAuthorization): Promise<void>;
  find(id: string): Promise<PendingAuthorization | undefined>;
  /** Marks it as used and forgets its secrets. @returns false for all but the first */
  use(id: string, now: number): Promise<boolean>;
  removeOfProvider(providerId: string): Promise<void>;
}
