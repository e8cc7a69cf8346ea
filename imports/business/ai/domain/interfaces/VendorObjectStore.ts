/**
 * Which user created which object at a vendor (threads, containers, files, batches): users who share a provider's key
 * must not reach each other's. Entries expire 30 days after the object was last seen, unless they are kept.
 */
export interface VendorObjectStore {
  /** Records objects that the user has created, or seen again. */
  record(userId: string, objectIds: readonly string[], facts?: VendorObjectFacts): Promise<void>;
  isOwner(userId: string, objectId: string): Promise<boolean>;
  /** Undefined for an object that the user did not create. */
  find(userId: string, objectId: string): Promise<VendorObjectFacts | undefined>;
  /** Returns those of the objects that the user created. */
  ownedAmong(userId: string, objectIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Forgets objects that no longer exist. */
  remove(userId: string, objectIds: readonly string[]): Promise<void>;
}

export interface VendorObjectFacts {
  /** The provider by which the object was created. */
  readonly providerId?: string;
  /** The vendor stores the object until it is deleted, so the entry does not expire. */
  readonly isKept?: boolean;
}
