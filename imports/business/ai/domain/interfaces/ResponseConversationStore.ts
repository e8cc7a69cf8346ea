/**
 * Conversations of the Responses API: lists of items that responses extend. Kept here for every vendor. They expire 30
 * days after their last use. A user's ids are unknown to every other user.
 * https://platform.openai.com/docs/api-reference/conversations
 */
import type { Item } from '../types/ResponsesAPITypes';

export interface ResponseConversation {
  readonly id: string;
  readonly userId: string;
  /** Seconds since the epoch. */
  readonly createdAt: number;
  readonly metadata: Readonly<Record<string, string>>;
}

/** An item under its id, which is unique within its conversation. */
export interface ConversationItem {
  readonly id: string;
  readonly item: Item;
}

export interface ConversationHistory {
  /** In order. */
  readonly items: readonly ConversationItem[];
  /** The place of the next item. */
  readonly end: number;
}

export interface ResponseConversationStore {
  create(conversation: ResponseConversation): Promise<void>;
  find(userId: string, id: string): Promise<ResponseConversation | undefined>;
  /** @returns false if the conversation does not exist */
  setMetadata(userId: string, id: string, metadata: ResponseConversation['metadata']): Promise<boolean>;
  /** Removes the conversation with its items. @returns whether it existed */
  remove(userId: string, id: string): Promise<boolean>;
  /**
   * Appends the items one after another, also while others append.
   * @param renamed the item under another id, if its own is taken
   * @returns the items as stored; undefined if the conversation does not exist
   * @throws TooLargeToStoreError
   */
  append(
    userId: string,
    id: string,
    items: readonly ConversationItem[],
    renamed: (item: ConversationItem) => ConversationItem,
  ): Promise<readonly ConversationItem[] | undefined>;
  /** @param before the place of the first item that is left out. Default: none is */
  history(userId: string, id: string, before?: number): Promise<ConversationHistory | undefined>;
  findItem(userId: string, id: string, itemId: string): Promise<ConversationItem | undefined>;
  /** @returns whether the item existed */
  removeItem(userId: string, id: string, itemId: string): Promise<boolean>;
}
