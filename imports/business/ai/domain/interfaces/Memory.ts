/**
 * What is remembered about each user from one run or conversation to the next: short texts, found by their words and,
 * with a model for embeddings, by their meaning. Every method concerns the memories of one user: nobody can name, find
 * or remove another's.
 */

export interface MemoryEntry {
  readonly id: string;
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** When it was last saved: it expires by this time. */
  readonly savedAt: number;
}

export interface NewMemory {
  /** 1 to 4,000 characters. A text that is remembered already is the same memory, saved again. */
  readonly text: string;
  /** A key of the caller's choice: the user's next memory with it replaces this one. Up to 200 characters. */
  readonly key?: string | undefined;
}

export interface MemoryQuery {
  /** In any words. Only the first 2,000 characters count. */
  readonly query: string;
  /** Default: 5; at most 50. */
  readonly limit?: number | undefined;
  readonly signal?: AbortSignal;
}

export interface FoundMemories {
  /** The best first. */
  readonly memories: readonly MemoryEntry[];
  /** `words`: nothing was compared by its meaning. */
  readonly by: 'words' | 'words-and-meaning';
  /** Why only words were compared, as a sentence for people. */
  readonly notice?: string;
}

export interface MemoryPage {
  /** The last saved first. */
  readonly memories: readonly MemoryEntry[];
  readonly total: number;
  /** The `after` of the next page. */
  readonly next?: string;
}

export interface Memory {
  /**
   * Resolves when it is stored. With more than the most memories of a user, those saved longest ago are forgotten.
   * @throws LLMInvalidRequestError for a text or key that is empty or too long
   */
  save(userId: string, memory: NewMemory): Promise<MemoryEntry>;
  /** Without a model for embeddings, and while it fails, finds by words. @throws `query.signal.reason` */
  search(userId: string, query: MemoryQuery): Promise<FoundMemories>;
  /** @param page `limit`: default 50, at most 200 */
  list(
    userId: string,
    page?: { readonly limit?: number | undefined; readonly after?: string | undefined },
  ): Promise<MemoryPage>;
  /** @param ids default: all. Unknown ids, and those of others, are no error @returns how many were forgotten */
  forget(userId: string, ids?: readonly string[]): Promise<number>;
}
