/** What a model should know beside the conversation: notes, documents, records. */
export interface ContextSource {
  /** @returns nothing when there is nothing to say about the message */
  getContext(userId: string, conversationId: string, message: string): Promise<string | undefined>;
}
