/** Conversations in a document collection: they outlive the process, and all processes share them. */
import type { DocumentCollection, StoredDocument } from '../../../../../database/DocumentCollection';
import { hashedId } from '../../../../../database/hashedId';
import { insertNew } from '../../../../../database/insertNew';
import type { MemoryMessage, ConversationStore } from '../../../domain/interfaces/ConversationStore';

export interface MessageDocument extends StoredDocument {
  readonly userId: string;
  readonly conversationId: string;
  readonly messageId: string;
  readonly role: MemoryMessage['role'];
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Orders messages of the same millisecond, which all come from the process that handles the conversation. */
  readonly place: number;
  readonly storedAt: Date;
}

export const MESSAGES = 'ai_messages';

/** 30 days. */
const TTL_SECONDS = 30 * 24 * 3_600;

export class DocumentConversationStore implements ConversationStore {
  private readonly messages: DocumentCollection<MessageDocument>;
  private readonly maxMessages: number;
  private lastPlace = 0;

  /** @param maxMessages the most messages that `getHistory` returns */
  constructor(messages: DocumentCollection<MessageDocument>, maxMessages = 200) {
    this.messages = messages;
    this.maxMessages = maxMessages;
  }

  /** Creates the indexes. Safe to call again. */
  async ready(): Promise<void> {
    await this.messages.ensureIndex({ storedAt: 1 }, { expireAfterSeconds: TTL_SECONDS });
    await this.messages.ensureIndex({ userId: 1, conversationId: 1, at: 1, place: 1 });
  }

  async storeInput(userId: string, conversationId: string, { id, role, text, at }: MemoryMessage): Promise<void> {
    this.lastPlace += 1;
    const _id = hashedId(userId, conversationId, id);
    // A stored message is never overwritten.
    await insertNew(this.messages, {
      _id,
      userId,
      conversationId,
      messageId: id,
      role,
      text,
      at,
      place: this.lastPlace,
      storedAt: new Date(),
    });
  }

  async getHistory(userId: string, conversationId: string): Promise<readonly MemoryMessage[]> {
    const last = await this.messages.find(
      { userId, conversationId },
      { sort: { at: -1, place: -1 }, limit: this.maxMessages },
    );
    return last.map(({ messageId, role, text, at }) => ({ id: messageId, role, text, at })).reverse();
  }
}
