/** Which run each chat of a user is at, and the messages before it. Shared by all processes. */
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import { withReferences } from '../../business/ai/domain/util/sharedTexts';
import type { DocumentCollection, StoredDocument } from '../../database/DocumentCollection';
import { hashedId } from '../../database/hashedId';
import { insertNew } from '../../database/insertNew';

export interface StoredChat {
  readonly userId: string;
  /** Chosen by the client, and unique for its user. */
  readonly chatId: string;
  /** The request id of the chat's last run. */
  readonly requestId: string;
  /** Recognizes a repetition of the request that started it. */
  readonly fingerprint: string;
  /** JSON of the messages that the run answers, as the client sent them. */
  readonly messages: string;
  /** The id of that run, if `messages` refers to the texts of its input. */
  readonly inputOf?: string;
}

export interface ChatDocument extends StoredDocument, StoredChat {
  readonly updatedAt: Date;
  /** The client has closed its connection before the answer was complete, and has not come back for the rest. */
  readonly isLeft?: true;
}

export const CHATS = 'ai_chats';

/** Since the last message: 30 days. */
const TTL_SECONDS = 30 * 24 * 3_600;

export class ChatStore {
  private readonly chats: DocumentCollection<ChatDocument>;

  constructor(chats: DocumentCollection<ChatDocument>) {
    this.chats = chats;
  }

  /** Creates the indexes. Safe to call again. */
  async ready(): Promise<void> {
    await this.chats.ensureIndex({ updatedAt: 1 }, { expireAfterSeconds: TTL_SECONDS });
    await this.chats.ensureIndex({ userId: 1 });
    await this.chats.ensureIndex({ inputOf: 1 }, { sparse: true });
  }

  find(userId: string, chatId: string): Promise<ChatDocument | undefined> {
    return this.chats.findOne({ _id: hashedId(userId, chatId) });
  }

  /**
   * Replaces the chat if its last run is still the expected one.
   * @param expected the request id of that run; undefined for a chat that does not exist
   * @returns false if another run was started meanwhile
   */
  async replace(chat: StoredChat, expected: string | undefined): Promise<boolean> {
    const _id = hashedId(chat.userId, chat.chatId);
    const fields = { ...chat, updatedAt: new Date() };
    if (expected !== undefined) {
      const { requestId, fingerprint, messages, updatedAt, inputOf } = fields;
      const $set = omitUndefined({ requestId, fingerprint, messages, updatedAt, inputOf });
      const isLeft = true;
      const $unset = inputOf === undefined ? ({ isLeft, inputOf: true } as const) : ({ isLeft } as const);
      return (await this.chats.update({ _id, requestId: expected }, { $set, $unset })) === 1;
    }
    return insertNew(this.chats, { _id, ...fields });
  }

  /**
   * Has the chat refer to the texts that its run has, too, if it is still its last one.
   * @param input of the run, as it is stored
   */
  async shareTexts(
    { userId, chatId, requestId, messages }: StoredChat,
    inputOf: string,
    input: unknown,
  ): Promise<void> {
    const referring = withReferences(messages, input);
    if (referring === undefined) return;
    await this.chats.update({ _id: hashedId(userId, chatId), requestId }, { $set: { messages: referring, inputOf } });
  }

  /** @param isLeft see `ChatDocument` */
  async setLeft(userId: string, chatId: string, isLeft: boolean): Promise<void> {
    const modifier = isLeft ? { $set: { isLeft } } : { $unset: { isLeft: true } as const };
    await this.chats.update({ _id: hashedId(userId, chatId) }, modifier);
  }

  /** Removes the chat if this is its last run. */
  async remove(userId: string, chatId: string, requestId: string): Promise<void> {
    await this.chats.remove({ _id: hashedId(userId, chatId), requestId });
  }

  /** @returns how many chats the user had */
  removeOfUser(userId: string): Promise<number> {
    return this.chats.remove({ userId });
  }
}
