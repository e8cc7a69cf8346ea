/**
 * Validates a chat completion and converts its first choice to items. All other fields are preserved verbatim for
 * clients of the same wire. https://platform.openai.com/docs/api-reference/chat/object
 */
import { toCallId } from '../../shared/callIds';
import { splitAssistantMessage } from './assistantItems';
import { fromChatAnnotation, isNested } from '../annotations';
import { isText, vendorFieldsOf, without } from '../vendorFields';
import type { ResponseContext } from '../../Wire';
import { LLMStreamError } from '../../../../domain/errors/LLMErrors';
import { vendorError } from '../../../../domain/errors/vendorErrors';
import { isEmpty, isList, isObject } from '../../../../domain/util/json';
import type { ItemStatus, MessageItem, OutputItem, VendorItem } from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject, Origin } from '../../../../domain/types/VendorTypes';

export interface Completion {
  readonly raw: JsonObject;
  readonly choices: readonly unknown[];
  readonly choice: JsonObject;
  readonly message: JsonObject;
}

/**
 * @throws LLMStreamError for a body that is not a chat completion
 * @throws LLMError for an error with status 200
 */
export function parseCompletion(body: unknown, context: ResponseContext): Completion {
  if (isList(body) && isObject(body[0])) throwIfError(body[0], context);
  if (!isObject(body)) throw invalidCompletion(`it is ${describeBody(body)}`, context);
  throwIfError(body, context);
  const { choices } = body;
  if (!isList(choices) || choices.length === 0) throw invalidCompletion('it has no "choices"', context);
  const [choice] = choices;
  if (!isObject(choice)) throw invalidCompletion('its first choice is not an object', context);
  // OpenRouter reports an upstream error in the choice.
  throwIfError(choice, context);
  const { message = null } = choice;
  if (message === null && isFiltered(choice)) return { raw: body, choices, choice, message: {} };
  if (!isObject(message)) throw invalidCompletion('its first choice has no "message"', context);
  return { raw: body, choices, choice, message };
}

/**
 * Whether the vendor's filter stopped the choice. Azure then may send no message.
 * https://learn.microsoft.com/azure/ai-services/openai/concepts/content-filter
 */
export function isFiltered({ finish_reason }: JsonObject): boolean {
  return finish_reason === 'content_filter';
}

export function throwIfError(body: JsonObject, { vendor, requestId }: ResponseContext): void {
  const { error } = body;
  if (!isText(error) && !(isObject(error) && !isEmpty(error)) && !isBareError(body) && !isOfMiniMax(body)) return;
  throw vendorError({ vendor, body, requestId });
}

/** Errors without an `error` wrapper: vLLM sets `object`, others send a message with a code instead of choices. */
function isBareError({ object, type, code, status, choices, message, detail }: JsonObject): boolean {
  if (object === 'error' || type === 'error') return true;
  const isNamed = [type, code, status].some((value) => value !== undefined && value !== null);
  return choices === undefined && (isText(detail) || (isText(message) && isNamed));
}

/** MiniMax reports errors with status 200: https://platform.minimax.io/docs/api-reference/errorcode */
function isOfMiniMax({ base_resp }: JsonObject): boolean {
  return isObject(base_resp) && typeof base_resp.status_code === 'number' && base_resp.status_code !== 0;
}

export function invalidCompletion(
  what: string,
  { vendor, requestId }: ResponseContext,
  cause?: unknown,
): LLMStreamError {
  return new LLMStreamError(`The response of ${vendor} is not a chat completion: ${what}.`, {
    vendor,
    requestId,
    cause,
  });
}

export function describeBody(body: unknown): string {
  if (typeof body === 'string')
    return body.trimStart().startsWith('<') ? 'an HTML or XML page' : body.trim() === '' ? 'empty' : 'plain text';
  if (isList(body)) return 'an array';
  return body === null ? 'null' : body === undefined ? 'empty' : `a ${typeof body}`;
}

/** The response's own id, or one derived from the request. */
export function responseIdOf(id: unknown, context: ResponseContext): string {
  return isText(id) ? id : (context.requestId ?? `chatcmpl-${context.receivedAt}`);
}

/** An id for a call that came without one; short enough for vendors that limit the length of ids. */
export function generatedCallId(responseId: string, index: number): string {
  return toCallId(`${responseId}_call_${index}`, { pattern: /^/, maxLength: 40 });
}

export interface CompletionItems {
  readonly output: readonly OutputItem[];
  /** The completion without its usage and what the items represent. */
  readonly fields: JsonObject;
}

export function completionItems(completion: Completion, status: ItemStatus, context: ResponseContext): CompletionItems {
  const { raw, choice, choices } = completion;
  const origin: Origin = { wire: 'chat_completions', vendor: context.vendor, model: context.model };
  const responseId = responseIdOf(raw.id, context);
  const split = splitAssistantMessage(completion.message, {
    origin,
    status,
    callId: (index) => generatedCallId(responseId, index),
  });
  const { fields: ownFields, rest } = messageFields(split.rest, split.hasMessageItem);
  const first: JsonObject = { ...choice, message: rest };
  const annotated = split.items.map((item) =>
    item.type === 'message' ? withAnnotations(withLogprobs(item, first), rest) : item,
  );
  const [head, ...tail] = annotated;
  const items = head === undefined ? [] : [withMessageFields(head, ownFields, context.vendor), ...tail];
  const at = items.findIndex((item) => item.type !== 'reasoning');
  const output = [...items.slice(0, at), ...executedTools(rest, origin), ...items.slice(at)];
  const unmapped = { ...raw, choices: [first, ...choices.slice(1)] };
  return { output, fields: isObject(raw.usage) ? without(unmapped, ['usage']) : unmapped };
}

function withAnnotations(item: MessageItem, rest: JsonObject): MessageItem {
  const { annotations } = rest;
  const [part] = item.content;
  if (!isList(annotations) || annotations.length === 0 || part?.type !== 'output_text') return item;
  if (annotations.every(isNested)) delete rest.annotations;
  return {
    ...item,
    content: [{ ...part, annotations: annotations.filter(isObject).map(fromChatAnnotation) }, ...item.content.slice(1)],
  };
}

function withLogprobs(item: MessageItem, choice: JsonObject): MessageItem {
  const { logprobs } = choice;
  const [part] = item.content;
  if (!isObject(logprobs) || !isList(logprobs.content) || logprobs.content.length === 0 || part?.type !== 'output_text')
    return item;
  choice.logprobs = without(logprobs, ['content']);
  return { ...item, content: [{ ...part, logprobs: logprobs.content }, ...item.content.slice(1)] };
}

/** Fields with a domain equivalent, or that cannot be sent back in a request. */
const MAPPED_FIELDS: ReadonlySet<string> = new Set([
  'role',
  'content',
  'refusal',
  'reasoning',
  'reasoning_content',
  'tool_calls',
  'function_call',
  'annotations',
  'audio',
  'executed_tools',
]);

/**
 * Splits the message's remaining fields. `fields` goes back with the message: unknown fields, the id of spoken audio,
 * and how a message that has only calls wrote its empty content.
 */
function messageFields(
  message: JsonObject,
  hasMessageItem: boolean,
): { fields: JsonObject | undefined; rest: JsonObject } {
  const fields: JsonObject = {};
  const rest: JsonObject = {};
  for (const field of Object.keys(message)) {
    const value = message[field];
    (MAPPED_FIELDS.has(field) || value === null || value === undefined ? rest : fields)[field] = value;
  }
  if (isObject(rest.audio) && isText(rest.audio.id)) fields.audio = { id: rest.audio.id };
  if ('content' in rest && (!hasMessageItem || isList(rest.content))) fields.content = rest.content;
  return { fields: hasMessageItem && isEmpty(fields) ? undefined : fields, rest };
}

function withMessageFields(item: OutputItem, message: JsonObject | undefined, from: string): OutputItem {
  return message === undefined
    ? item
    : { ...item, vendor: { ...item.vendor, openai: { ...vendorFieldsOf(item), from, message } } };
}

/** Tools that Groq's compound systems ran: https://console.groq.com/docs/compound */
function executedTools(rest: JsonObject, origin: Origin): VendorItem[] {
  const { executed_tools } = rest;
  if (!isList(executed_tools) || executed_tools.length === 0 || !executed_tools.every(isObject)) return [];
  delete rest.executed_tools;
  return executed_tools.map((item) => ({ type: 'vendor_item', origin, item }));
}
