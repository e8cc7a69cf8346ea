/** Stores accounts for all processes. A change names the revision that it is based on. */
export interface StoredAccount<A> {
  readonly account: A;
  /** Increases with every change, starting at 1. */
  readonly revision: number;
}

export interface AccountStore<A> {
  find(id: string): Promise<StoredAccount<A> | undefined>;
  /**
   * Replaces the account of the given revision, or creates it for revision 0.
   * @returns false, without a change, if the stored revision is another one
   */
  replace(account: A, revision: number): Promise<boolean>;
}
