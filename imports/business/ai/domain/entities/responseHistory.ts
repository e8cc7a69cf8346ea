/** Rebuilds the conversation behind a response id from our own store, for vendors that store no responses. */
import { LLMContextLengthError, LLMInvalidRequestError } from '../errors/LLMErrors';
import type { ResponseStore, StoredResponse } from '../interfaces/ResponseStore';
import type { FunctionCallItem, InputItem, Item } from '../types/ResponsesAPITypes';
import type { JsonObject, Loss } from '../types/VendorTypes';

/** The length of all texts of a history, in UTF-16 units. All of it is in memory while it is sent. */
const MAX_HISTORY_LENGTH = 32 * 1_024 ** 2;

export interface ResponseHistory {
  /** Input and output of the stored responses, in order. */
  readonly items: readonly InputItem[];
  /** The first response that is still stored. */
  readonly oldest: StoredResponse;
  readonly losses: readonly Loss[];
}

/**
 * Follows the chain back as far as it is stored. If its beginning is gone, tool calls stay together with their outputs,
 * and reasoning that is encrypted for the complete conversation is dropped, since vendors reject or ignore it after an
 * edit.
 * @throws LLMInvalidRequestError if the response itself is unknown, or belongs to another user; LLMContextLengthError
 *   if the history is larger than any model takes
 */
export async function loadResponseHistory(
  store: ResponseStore,
  userId: string,
  responseId: string,
): Promise<ResponseHistory> {
  const newest = await store.find(userId, responseId);
  if (newest === undefined) throw unknownResponseError(responseId);
  const chain = [newest];
  let length = textLength(newest.input) + textLength(newest.response.output);
  const seen = new Set([responseId]);
  let previousId = newest.previousId;
  while (previousId !== undefined && !seen.has(previousId)) {
    seen.add(previousId);
    const stored = await store.find(userId, previousId);
    if (stored === undefined) break;
    length += textLength(stored.input) + textLength(stored.response.output);
    if (length > MAX_HISTORY_LENGTH)
      throw new LLMContextLengthError(
        `The conversation before response "${responseId}" takes more than ${MAX_HISTORY_LENGTH / 1_024 ** 2} MB. Begin a new one.`,
        { path: 'previous_response_id' },
      );
    chain.push(stored);
    previousId = stored.previousId;
  }
  const oldest = chain.at(-1) ?? newest;
  const items = itemsOf(chain.reverse());
  return { oldest, ...(previousId === undefined ? { items, losses: [] } : withoutEncryptedReasoning(items)) };
}

/** The error for an unknown `previous_response_id`, with OpenAI's wording. */
export function unknownResponseError(id: string): LLMInvalidRequestError {
  return new LLMInvalidRequestError(`Previous response with id '${id}' not found.`, {
    path: 'previous_response_id',
    vendorCode: 'previous_response_not_found',
  });
}

/** The calls whose outputs are in the input although the calls themselves are not. */
export function answeredCalls(history: readonly Item[], input: readonly InputItem[]): readonly FunctionCallItem[] {
  const own = new Set(input.flatMap((item) => (item.type === 'function_call' ? [item.call_id] : [])));
  const answered = new Set(
    input.flatMap((item) => (item.type === 'function_call_output' && !own.has(item.call_id) ? [item.call_id] : [])),
  );
  return history.filter(
    (item): item is FunctionCallItem => item.type === 'function_call' && answered.has(item.call_id),
  );
}

function textLength(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let length = 0;
  for (const field of Object.values(value)) length += textLength(field);
  return length;
}

/** Calls whose response is gone are put back before the first of their outputs. */
function itemsOf(chain: readonly StoredResponse[]): readonly InputItem[] {
  const items: InputItem[] = [];
  const called = new Set<string>();
  const add = (item: InputItem): void => {
    if (item.type === 'function_call') called.add(item.call_id);
    items.push(item);
  };
  for (const { input, response, answeredCalls: calls = [] } of chain) {
    const missing = calls.filter(({ call_id }) => !called.has(call_id));
    const firstOutput =
      missing.length === 0
        ? -1
        : input.findIndex(
            (item) => item.type === 'function_call_output' && missing.some(({ call_id }) => call_id === item.call_id),
          );
    input.forEach((item, index) => {
      if (index === firstOutput) missing.forEach(add);
      add(item);
    });
    response.output.forEach(add);
  }
  return items;
}

function withoutEncryptedReasoning(items: readonly InputItem[]): Omit<ResponseHistory, 'oldest'> {
  const losses: Loss[] = [];
  const remaining = items.flatMap((item, index) => {
    const unsealed = withoutSeal(item);
    if (unsealed !== item)
      losses.push({
        path: `previous_response_id.items[${index}]`,
        what: 'encrypted reasoning',
        reason: 'The beginning of the conversation that it was encrypted for is gone.',
      });
    return unsealed === undefined ? [] : [unsealed];
  });
  return { items: remaining, losses };
}

/** Items are immutable, so each is processed once, and converters that cache by item find the same object again. */
const unsealedItems = new WeakMap<Item, Item>();

function withoutSeal(item: Item): Item | undefined {
  if (item.type === 'reasoning') return undefined;
  const cached = unsealedItems.get(item);
  if (cached !== undefined) return cached;
  const unsealed =
    item.type === 'message'
      ? withoutSignature({ ...item, content: item.content.map(withoutSignature) })
      : withoutSignature(item);
  const result = JSON.stringify(unsealed) === JSON.stringify(item) ? item : unsealed;
  unsealedItems.set(item, result);
  return result;
}

/**
 * Gemini signs the parts that its reasoning led to,
 * https://ai.google.dev/gemini-api/docs/thought-signatures.
 */
function withoutSignature<T extends { readonly vendor?: Item['vendor'] }>(carrier: T): T {
  if (carrier.vendor === undefined) return carrier;
  // Boundary: vendor fields are plain JSON, and the reviver removes a member.
  const vendor = JSON.parse(JSON.stringify(carrier.vendor), (key, value: unknown) =>
    key === 'thoughtSignature' ? undefined : value,
  ) as JsonObject;
  return { ...carrier, vendor };
}
