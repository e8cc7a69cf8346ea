/** The conversations that requests of the Responses API refer to, and the history of responses that are part of one. */
import { loadResponseHistory } from '../../../business/ai/domain/entities/responseHistory';
import { wellFormedItem } from '../../../business/ai/domain/entities/Message';
import { LLMInvalidRequestError } from '../../../business/ai/domain/errors/LLMErrors';
import { fieldsOf, isObject } from '../../../business/ai/domain/util/json';
import type {
  ConversationItem,
  ResponseConversation,
  ResponseConversationStore,
} from '../../../business/ai/domain/interfaces/ResponseConversationStore';
import type { ResponseStore, StoredResponse } from '../../../business/ai/domain/interfaces/ResponseStore';
import type { InputItem, Item } from '../../../business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { HttpError } from '../../http/HttpError';
import { generateItemId, withoutGeneratedId } from '../responses/generatedIds';

/** The conversation of a request, with its items so far. */
export interface RequestedConversation {
  readonly id: string;
  /** The place of the next item. */
  readonly end: number;
  readonly items: readonly InputItem[];
}

export class Conversations {
  readonly store: ResponseConversationStore;

  constructor(store: ResponseConversationStore) {
    this.store = store;
  }

  /**
   * @returns undefined for a request without a conversation
   * @throws LLMInvalidRequestError for an invalid one, HttpError 404 for an unknown one or another user's
   */
  async requestedBy(userId: string, body: JsonObject): Promise<RequestedConversation | undefined> {
    const id = requestedId(body);
    if (id === undefined) return undefined;
    const history = await this.store.history(userId, id);
    if (history === undefined) throw unknownConversation(id, 'conversation');
    return { id, end: history.end, items: history.items.map(toInputItem) };
  }

  /** The conversation up to and including a response. @throws as `loadResponseHistory` */
  async historyOf(responses: ResponseStore, userId: string, responseId: string): Promise<readonly InputItem[]> {
    const { items, oldest } = await loadResponseHistory(responses, userId, responseId);
    const { conversation } = oldest;
    if (conversation === undefined) return items;
    const before = await this.store.history(userId, conversation.id, conversation.end);
    return [...(before?.items ?? []).map(toInputItem), ...items];
  }

  /** Appends the input and the output of a response. A conversation that was deleted meanwhile stays deleted. */
  async extend({ userId, conversation, input, response }: StoredResponse): Promise<void> {
    if (conversation === undefined || (response.status !== 'completed' && response.status !== 'incomplete')) return;
    await this.append(userId, conversation.id, [...input, ...response.output]);
  }

  /** @returns undefined if the conversation does not exist */
  append(userId: string, id: string, items: readonly Item[]): Promise<readonly ConversationItem[] | undefined> {
    const named = items.map((item) => ({ id: item.id ?? generateItemId(item), item }));
    return this.store.append(userId, id, named, ({ item }) => ({ id: generateItemId(item), item }));
  }

  /** @throws HttpError 404 for an unknown conversation; another user's gets exactly the same response */
  async find(userId: string, id: string): Promise<ResponseConversation> {
    const found = await this.store.find(userId, id);
    if (found === undefined) throw unknownConversation(id, 'conversation_id');
    return found;
  }
}

/** The field `conversation` of a response. */
export function conversationField(body: JsonObject): { readonly conversation?: JsonObject } {
  const id = requestedId(body);
  return id === undefined ? {} : { conversation: { id } };
}

export function unknownConversation(id: string, path: string): HttpError {
  return new HttpError(404, `Conversation with id '${id.slice(0, 100)}' not found.`, { path });
}

/** @throws LLMInvalidRequestError */
function requestedId({ conversation }: JsonObject): string | undefined {
  if (conversation === undefined || conversation === null) return undefined;
  const id = isObject(conversation) ? fieldsOf(conversation).id : conversation;
  if (typeof id === 'string' && id !== '') return id;
  throw new LLMInvalidRequestError('conversation must be the id of a conversation, or an object with its id.', {
    path: 'conversation',
  });
}

function toInputItem({ item }: ConversationItem): InputItem {
  return withoutGeneratedId(wellFormedItem(item));
}
