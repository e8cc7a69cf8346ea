/** What was said in users' conversations. */

export interface MemoryMessage {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A conversation belongs to its user: under another user the same id is another conversation. */
export interface ConversationStore {
  /** Adds a message to the end; one that is there under its id stays as it is. */
  storeInput(userId: string, conversationId: string, message: MemoryMessage): Promise<void>;
  /** Oldest first, and bounded by the store: what a model is told again. */
  getHistory(userId: string, conversationId: string): Promise<readonly MemoryMessage[]>;
}
