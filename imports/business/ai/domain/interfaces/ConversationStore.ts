/** Stores the messages of users' conversations. */

export interface MemoryMessage {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A message as a store returns it: ids and times are optional, and may be the store's own. */
export type PastMessage = Pick<MemoryMessage, 'role' | 'text'> & Partial<Pick<MemoryMessage, 'id' | 'at'>>;

/** A conversation belongs to its user: the same id under another user is another conversation. */
export interface ConversationStore {
  /** Appends a message. A message with an id that is already stored is ignored. */
  storeInput(userId: string, conversationId: string, message: MemoryMessage): Promise<void>;
  /**
   * Oldest first, limited by the store: the history that a model gets. It may contain the message that was stored last,
   * under any id: the model receives that message once.
   */
  getHistory(userId: string, conversationId: string): Promise<readonly PastMessage[]>;
}

/** The former name of the port, for existing implementations. */
export type MemoryStore = ConversationStore;
