/**
 * Which user created which object at a vendor (threads, containers, files): users who share a provider's key must not
 * reach each other's. Entries expire 30 days after the object was last seen.
 */
export interface VendorObjectStore {
  /** Records objects that the user has created, or seen again. */
  record(userId: string, objectIds: readonly string[]): Promise<void>;
  isOwner(userId: string, objectId: string): Promise<boolean>;
}
