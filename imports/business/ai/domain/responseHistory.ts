/**
 * The conversation behind a response id, as far as our own store still holds it: what a host that keeps nothing is
 * sent again.
 */
import { LLMInvalidRequestError } from './errors/LLMErrors';
import type { ResponseStore, StoredResponse } from './interfaces/ResponseStore';
import type { FunctionCallItem, InputItem, Item } from './types/ResponsesAPITypes';
import type { JsonObject, Loss } from './types/VendorTypes';

export interface ResponseWindow {
  /** Everything said in the window's responses, in order. */
  readonly items: readonly InputItem[];
  readonly losses: readonly Loss[];
}

/**
 * Follows the chain back as far as it is stored. Where its beginning is gone, calls stay with their answers, and
 * reasoning that was sealed to the whole of it is left out, since vendors refuse or ignore what they find edited.
 * @throws LLMInvalidRequestError when the response itself is unknown; a user's response is unknown to every other user
 */
export async function loadResponseHistory(
  store: ResponseStore,
  userId: string,
  responseId: string,
): Promise<ResponseWindow> {
  const newest = await store.find(userId, responseId);
  if (newest === undefined) throw unknownResponseError(responseId);
  const chain = [newest];
  const seen = new Set([responseId]);
  let previousId = newest.previousId;
  while (previousId !== undefined && !seen.has(previousId)) {
    seen.add(previousId);
    const stored = await store.find(userId, previousId);
    if (stored === undefined) break;
    chain.push(stored);
    previousId = stored.previousId;
  }
  const items = itemsOf(chain.reverse());
  return previousId === undefined ? { items, losses: [] } : withoutSeals(items);
}

/** The error for a `previous_response_id` that nobody knows, worded as OpenAI words it. */
export function unknownResponseError(id: string): LLMInvalidRequestError {
  return new LLMInvalidRequestError(`Previous response with id '${id}' not found.`, {
    path: 'previous_response_id',
    vendorCode: 'previous_response_not_found',
  });
}

/** The calls that an input answers but does not hold itself. */
export function answeredCalls(history: readonly Item[], input: readonly InputItem[]): readonly FunctionCallItem[] {
  const own = new Set(input.flatMap((item) => (item.type === 'function_call' ? [item.call_id] : [])));
  const answered = new Set(
    input.flatMap((item) => (item.type === 'function_call_output' && !own.has(item.call_id) ? [item.call_id] : [])),
  );
  return history.filter(
    (item): item is FunctionCallItem => item.type === 'function_call' && answered.has(item.call_id),
  );
}

/** Calls whose response is gone are put back before the first of their answers. */
function itemsOf(chain: readonly StoredResponse[]): readonly InputItem[] {
  const items: InputItem[] = [];
  const called = new Set<string>();
  const add = (item: InputItem): void => {
    if (item.type === 'function_call') called.add(item.call_id);
    items.push(item);
  };
  for (const { input, response, answeredCalls: calls = [] } of chain) {
    const lost = calls.filter(({ call_id }) => !called.has(call_id));
    const first =
      lost.length === 0
        ? -1
        : input.findIndex(
            (item) => item.type === 'function_call_output' && lost.some(({ call_id }) => call_id === item.call_id),
          );
    input.forEach((item, index) => {
      if (index === first) lost.forEach(add);
      add(item);
    });
    response.output.forEach(add);
  }
  return items;
}

function withoutSeals(items: readonly InputItem[]): ResponseWindow {
  const losses: Loss[] = [];
  const kept = items.flatMap((item, index) => {
    const open = unsealed(item);
    if (open !== item)
      losses.push({
        path: `previous_response_id.items[${index}]`,
        what: 'sealed reasoning',
        reason: 'the beginning of the conversation that it was sealed to is gone',
      });
    return open === undefined ? [] : [open];
  });
  return { items: kept, losses };
}

/** Items never change, so each is unsealed once, and converters that remember items find the same one again. */
const opened = new WeakMap<Item, Item>();

function unsealed(item: Item): Item | undefined {
  if (item.type === 'reasoning') return undefined;
  const known = opened.get(item);
  if (known !== undefined) return known;
  const open =
    item.type === 'message' ? unsealedMark({ ...item, content: item.content.map(unsealedMark) }) : unsealedMark(item);
  const result = JSON.stringify(open) === JSON.stringify(item) ? item : open;
  opened.set(item, result);
  return result;
}

/**
 * Gemini puts its seals on the parts that reasoning led to,
 * https://ai.google.dev/gemini-api/docs/thought-signatures.
 */
function unsealedMark<T extends { readonly vendor?: Item['vendor'] }>(carrier: T): T {
  if (carrier.vendor === undefined) return carrier;
  // Boundary: vendor words are plain JSON, and the reviver takes a member away from them.
  const vendor = JSON.parse(JSON.stringify(carrier.vendor), (key, value: unknown) =>
    key === 'thoughtSignature' ? undefined : value,
  ) as JsonObject;
  return { ...carrier, vendor };
}
