/** What users have stored, and may store. */

export interface StoredOfUser {
  readonly bytes: number;
  readonly limit: number;
  /** Bytes by the kind of documents, as exports name them; the largest first. */
  readonly kinds: Readonly<Record<string, number>>;
}

export interface UserStorage {
  /**
   * Admits what is about to be stored.
   * @param contentBytes bytes of it, in UTF-8
   * @returns what to call once it has stored that, or has failed
   * @throws StorageFullError, which says what the user has
   */
  admit(userId: string, contentBytes: number): Promise<() => void>;
  /** To be called after something of the user was removed: the next request is refused by a new count only. */
  released(userId: string): void;
  /** Counts what the user has. */
  usageOf(userId: string): Promise<StoredOfUser>;
}
