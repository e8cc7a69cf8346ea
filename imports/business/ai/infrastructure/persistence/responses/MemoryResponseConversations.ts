/**
 * Conversations of the Responses API in this process's memory. Of the user who has most, the least recently used are
 * forgotten first.
 */
import { FairLruMap } from '../../../domain/util/FairLruMap';
import type {
  ConversationHistory,
  ConversationItem,
  ResponseConversation,
  ResponseConversationStore,
} from '../../../domain/interfaces/ResponseConversationStore';

interface Entry {
  conversation: ResponseConversation;
  /** With their places. */
  readonly items: Map<string, ConversationItem & { readonly place: number }>;
  next: number;
}

const MAX_CONVERSATIONS = 10_000;

export class MemoryResponseConversations implements ResponseConversationStore {
  private readonly entries = new FairLruMap<Entry>({ entries: MAX_CONVERSATIONS });

  create(conversation: ResponseConversation): Promise<void> {
    this.entries.set(conversation.userId, conversation.id, { conversation, items: new Map(), next: 0 });
    return Promise.resolve();
  }

  find(userId: string, id: string): Promise<ResponseConversation | undefined> {
    return Promise.resolve(this.entries.get(userId, id)?.conversation);
  }

  setMetadata(userId: string, id: string, metadata: ResponseConversation['metadata']): Promise<boolean> {
    const entry = this.entries.get(userId, id);
    if (entry !== undefined) entry.conversation = { ...entry.conversation, metadata };
    return Promise.resolve(entry !== undefined);
  }

  remove(userId: string, id: string): Promise<boolean> {
    return Promise.resolve(this.entries.delete(userId, id));
  }

  append(
    userId: string,
    id: string,
    items: readonly ConversationItem[],
    renamed: (item: ConversationItem) => ConversationItem,
  ): Promise<readonly ConversationItem[] | undefined> {
    const entry = this.entries.get(userId, id);
    if (entry === undefined) return Promise.resolve(undefined);
    const stored = items.map((item) => {
      const free = entry.items.has(item.id) ? renamed(item) : item;
      entry.items.set(free.id, { ...free, place: entry.next });
      entry.next += 1;
      return free;
    });
    return Promise.resolve(stored);
  }

  history(userId: string, id: string, before?: number): Promise<ConversationHistory | undefined> {
    const entry = this.entries.get(userId, id);
    if (entry === undefined) return Promise.resolve(undefined);
    const end = before ?? entry.next;
    const items = [...entry.items.values()].filter(({ place }) => place < end);
    return Promise.resolve({ items: items.map(({ place: _, ...item }) => item), end });
  }

  findItem(userId: string, id: string, itemId: string): Promise<ConversationItem | undefined> {
    return Promise.resolve(this.entries.get(userId, id)?.items.get(itemId));
  }

  removeItem(userId: string, id: string, itemId: string): Promise<boolean> {
    return Promise.resolve(this.entries.get(userId, id)?.items.delete(itemId) ?? false);
  }
}
