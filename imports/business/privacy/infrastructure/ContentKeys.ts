/** Port to the keys that seal users' content. */

export interface ContentKey {
  readonly id: string;
  /** @param binding where the text belongs: it opens with the same binding only */
  seal(text: string, binding: readonly string[]): string;
  /** @throws StoreError if it was altered or sealed for another place */
  open(sealed: string, binding: readonly string[]): string;
}

export interface ContentKeys {
  /** Creates the user's key if there is none. @throws StoreError if it does not open */
  ofUser(userId: string): Promise<ContentKey>;
  /** @returns undefined if the key was deleted. @throws StoreError if it does not open */
  find(id: string): Promise<ContentKey | undefined>;
}
