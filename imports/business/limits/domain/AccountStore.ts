/** Stores accounts for all processes. A change names the revision that it is based on. */
export interface StoredAccount<A> {
  readonly account: A;
  /**
   * Higher by 1 with every change. That of a new account is random, so that it never has a revision that a removed one
   * had: whoever still has that one cannot replace it.
   */
  readonly revision: number;
}

export interface AccountStore<A> {
  find(id: string): Promise<StoredAccount<A> | undefined>;
  /**
   * Replaces the account of the given revision, which then is higher by 1, or creates it for revision 0.
   * @returns false, without a change, if the stored revision is another one
   */
  replace(account: A, revision: number): Promise<boolean>;
}
