/** Resolves a request's input: decrypts summaries and replaces references to stored items. */
import type { ResponseStore } from '../../../business/ai/domain/interfaces/ResponseStore';
import type { InputItem } from '../../../business/ai/domain/types/ResponsesAPITypes';
import { HttpError } from '../../http/HttpError';
import { parseInputItemId, withoutGeneratedId } from './generatedIds';
import type { EncryptedSummaries } from './EncryptedSummaries';

export interface InputContext {
  readonly userId: string;
  readonly store: ResponseStore;
  readonly summaries: EncryptedSummaries;
  /** The requested provider, which resolves references to items that it stores itself. Absent: none does. */
  readonly providerId?: string;
}

/**
 * @throws HttpError 404 for a reference to an unknown item or another user's; LLMInvalidRequestError for a summary that
 * can't be decrypted
 */
export async function readInputItems(items: readonly InputItem[], facts: InputContext): Promise<readonly InputItem[]> {
  // A promise for each item would take longer than all else that is done with most of them.
  if (!items.some(mustBeResolved)) return items.map(withoutGeneratedId);
  return Promise.all(items.map((item, index) => readItem(item, `input[${index}]`, facts)));
}

function mustBeResolved({ type }: InputItem): boolean {
  return type === 'compaction' || type === 'item_reference';
}

async function readItem(
  item: InputItem,
  path: string,
  { userId, store, summaries, providerId }: InputContext,
): Promise<InputItem> {
  switch (item.type) {
    case 'compaction': {
      const summary = summaries.open(userId, item.encrypted_content, `${path}.encrypted_content`);
      return summary === undefined ? item : summaryMessage(summary);
    }
    case 'item_reference': {
      const found = (await store.findItem(userId, String(item.id))) ?? (await findInputItem(store, userId, item.id));
      if (found === undefined)
        throw new HttpError(404, `Item with id '${String(item.id).slice(0, 100)}' not found.`, { path: 'input' });
      return found.stored.keptByProvider && found.stored.providerId === providerId
        ? item
        : withoutGeneratedId(found.item);
    }
    default:
      return withoutGeneratedId(item);
  }
}

/** An item that was listed as input of a response, under a generated id. */
async function findInputItem(store: ResponseStore, userId: string, id: unknown): ReturnType<ResponseStore['findItem']> {
  const place = parseInputItemId(String(id));
  const stored = place === undefined ? undefined : await store.find(userId, place.responseId);
  const item = place === undefined ? undefined : stored?.input[place.index];
  // The provider does not know the id.
  return stored === undefined || item === undefined
    ? undefined
    : { item, stored: { ...stored, keptByProvider: false } };
}

/** A user message: a summary of what users wrote must not get the authority of a system message. */
function summaryMessage(summary: string): InputItem {
  return {
    type: 'message',
    role: 'user',
    content: [{ type: 'input_text', text: `Summary of the conversation so far:\n${summary}` }],
  };
}
