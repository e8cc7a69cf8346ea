/** Supplies context for a message besides the conversation: notes, documents, records. */
export interface ContextSource {
  /** @returns undefined if there is no context for the message */
  getContext(userId: string, conversationId: string, message: string): Promise<string | undefined>;
}
