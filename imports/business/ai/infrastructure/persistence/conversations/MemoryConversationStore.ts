/** Conversations in memory, bounded in number and length. The least recently used are evicted. */
import type { MemoryMessage, ConversationStore } from '../../../domain/interfaces/ConversationStore';

export interface MemoryConversationLimits {
  readonly conversations: number;
  /** Messages retained per conversation. */
  readonly messages: number;
}

export const DEFAULT_CONVERSATION_LIMITS: MemoryConversationLimits = { conversations: 10_000, messages: 200 };

export class MemoryConversationStore implements ConversationStore {
  /** Least recently used first. */
  private readonly conversations = new Map<string, MemoryMessage[]>();
  private readonly limits: MemoryConversationLimits;

  constructor(limits: Partial<MemoryConversationLimits> = {}) {
    this.limits = { ...DEFAULT_CONVERSATION_LIMITS, ...limits };
  }

  storeInput(userId: string, conversationId: string, message: MemoryMessage): Promise<void> {
    const key = keyOf(userId, conversationId);
    const messages = this.conversations.get(key) ?? [];
    this.conversations.delete(key);
    this.conversations.set(key, messages);
    if (!messages.some(({ id }) => id === message.id)) messages.push(message);
    messages.splice(0, messages.length - this.limits.messages);
    for (const oldest of this.conversations.keys()) {
      if (this.conversations.size <= this.limits.conversations) break;
      this.conversations.delete(oldest);
    }
    return Promise.resolve();
  }

  getHistory(userId: string, conversationId: string): Promise<readonly MemoryMessage[]> {
    return Promise.resolve([...(this.conversations.get(keyOf(userId, conversationId)) ?? [])]);
  }
}

function keyOf(userId: string, conversationId: string): string {
  return JSON.stringify([userId, conversationId]);
}
