/** Conversations in memory, bounded in number and length. Users with too many lose those they used least recently. */
import { FairLruMap } from '../../../domain/util/FairLruMap';
import type { MemoryMessage, ConversationStore } from '../../../domain/interfaces/ConversationStore';

export interface MemoryConversationLimits {
  readonly conversations: number;
  readonly conversationsPerUser: number;
  /** UTF-16 code units of one user's messages. The limit for all users together is eight times as high. */
  readonly charactersPerUser: number;
  /** Messages retained per conversation. */
  readonly messages: number;
}

export const DEFAULT_CONVERSATION_LIMITS: MemoryConversationLimits = {
  conversations: 10_000,
  conversationsPerUser: 1_000,
  charactersPerUser: 16 * 1024 * 1024,
  messages: 200,
};

export class MemoryConversationStore implements ConversationStore {
  private readonly conversations: FairLruMap<MemoryMessage[]>;
  private readonly limits: MemoryConversationLimits;

  constructor(limits: Partial<MemoryConversationLimits> = {}) {
    this.limits = { ...DEFAULT_CONVERSATION_LIMITS, ...limits };
    const { conversations: entries, conversationsPerUser: entriesPerUser, charactersPerUser } = this.limits;
    this.conversations = new FairLruMap(
      { entries, entriesPerUser, size: 8 * charactersPerUser, sizePerUser: charactersPerUser },
      { sizeOf: (messages) => messages.reduce((sum, { text }) => sum + text.length, 0) },
    );
  }

  storeInput(userId: string, conversationId: string, message: MemoryMessage): Promise<void> {
    const messages = this.conversations.get(userId, conversationId) ?? [];
    if (!messages.some(({ id }) => id === message.id)) messages.push(message);
    messages.splice(0, messages.length - this.limits.messages);
    this.conversations.set(userId, conversationId, messages);
    return Promise.resolve();
  }

  getHistory(userId: string, conversationId: string): Promise<readonly MemoryMessage[]> {
    return Promise.resolve([...(this.conversations.get(userId, conversationId) ?? [])]);
  }
}
