/** What users have stored, and may store. */

export interface StoredOfUser {
  readonly bytes: number;
  readonly limit: number;
  /** Bytes by the kind of documents, as exports name them; the largest first. */
  readonly kinds: Readonly<Record<string, number>>;
}

export interface UserStorage {
  /**
   * Admits a request.
   * @param requestBytes bytes of what it says
   * @returns what to call once it has stored that, or has failed
   * @throws StorageFullError, which says what the user has
   */
  admit(userId: string, requestBytes: number): Promise<() => void>;
  /** Counts what the user has. */
  usageOf(userId: string): Promise<StoredOfUser>;
}
