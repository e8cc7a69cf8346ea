/**
 * The server side of the chat wire: reads a client's request as options, and writes a response as a chat completion.
 * https://platform.openai.com/docs/api-reference/chat
 */
import { generatedImageOf, toChatImage } from '../../shared/generatedImage';
import {
  assistantContent,
  isLegacy,
  joinTexts,
  reasoningFieldsOf,
  reasoningPartsOf,
  reasoningText,
  toToolCall,
} from '../request/assistantMessage';
import { textLengthOf, toChatAnnotation, urlCitationsOf } from '../annotations';
import { readMessages } from './readMessages';
import { readParameters } from './readParameters';
import { toChatUsage } from '../usage';
import { messageFieldsOf } from '../vendorFields';
import { isCallItem } from '../../stream/callItems';
import { refusalOf } from '../../../../domain/entities/Response';
import { LLMInvalidRequestError } from '../../../../domain/errors/LLMErrors';
import { fieldsOf, isList, isObject } from '../../../../domain/util/json';
import { omitUndefined } from '../../../../domain/util/omitUndefined';
import type { GenerateOptions } from '../../../../domain/types/LLMTypes';
import type { LLMResponse, MessageItem, OutputItem } from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

/**
 * @param body the JSON that a client sent to `/chat/completions`
 * @returns options for the normalizer; fields without a domain equivalent are preserved verbatim under `vendor.openai`
 * @throws LLMInvalidRequestError with the JSON path of the invalid value
 */
export function readChatCompletionsRequest(body: unknown): GenerateOptions & { stream?: boolean } {
  if (!isObject(body)) throw new LLMInvalidRequestError('The request must be a JSON object.', { path: '' });
  const { messages, stream, ...fields } = body;
  if (!isList(messages)) throw new LLMInvalidRequestError('"messages" must be an array.', { path: 'messages' });
  if (stream !== undefined && stream !== null && typeof stream !== 'boolean')
    throw new LLMInvalidRequestError('"stream" must be true or false.', { path: 'stream' });
  return {
    ...readParameters(fields),
    input: readMessages(messages),
    ...(typeof stream === 'boolean' ? { stream } : {}),
  };
}

/** Restores the vendor's own body if the response came over this wire; otherwise converts the response. */
export function writeChatCompletions(response: LLMResponse): JsonObject {
  const { wire, fields } = response.vendor;
  return wire === 'chat_completions' && isList(fields?.choices)
    ? originalCompletion(response, fields, fields.choices)
    : convertedCompletion(response);
}

function originalCompletion(
  response: LLMResponse,
  fields: JsonObject,
  [choice, ...others]: readonly unknown[],
): JsonObject {
  const first = fieldsOf(choice);
  const leftover = fieldsOf(first.message);
  const text = response.output.find((item): item is MessageItem => item.type === 'message')?.content[0];
  const logprobs =
    text?.type === 'output_text' && text.logprobs !== undefined
      ? { logprobs: { ...fieldsOf(first.logprobs), content: text.logprobs } }
      : {};
  return {
    ...fields,
    choices: [{ ...first, ...logprobs, message: restoredMessage(response, leftover) }, ...others],
    ...omitUndefined({ usage: response.vendor.usage }),
  };
}

/** Merges what the items represent into the fields that none of them does. */
function restoredMessage({ output, vendor }: LLMResponse, leftover: JsonObject): JsonObject {
  const message: JsonObject = { ...output.map(messageFieldsOf).find((fields) => fields !== undefined), ...leftover };
  const parts = collectMessageParts(output, vendor.name);
  if (parts.texts.length + parts.thoughts.length > 0 && !isList(message.content))
    message.content = joinTexts(parts.texts, parts.thoughts);
  if (parts.refusal !== undefined) message.refusal = parts.refusal;
  if (parts.annotations.length > 0 && !isList(message.annotations)) message.annotations = parts.annotations;
  if (parts.executedTools.length > 0) message.executed_tools = parts.executedTools;
  Object.assign(message, parts.reasoning);
  const residues = isList(message.tool_calls) ? message.tool_calls : [];
  if (parts.calls.length > 0) message.tool_calls = parts.calls.map((call, index) => withResidue(call, residues[index]));
  if (parts.legacyCall !== undefined && message.function_call === undefined) message.function_call = parts.legacyCall;
  return message;
}

/** A residue with the call itself is the original of a call that its item represents only in part. */
function withResidue(call: JsonObject, residue: unknown): JsonObject {
  if (!isObject(residue)) return call;
  return 'function' in residue || 'custom' in residue ? residue : { ...call, ...residue };
}

interface MessageParts {
  readonly texts: ReturnType<typeof assistantContent>['texts'][];
  readonly calls: JsonObject[];
  readonly executedTools: JsonObject[];
  readonly reasoning: JsonObject;
  readonly thoughts: JsonObject[];
  readonly annotations: JsonObject[];
  foreignReasoning: string;
  refusal?: string;
  legacyCall?: JsonObject;
}

function collectMessageParts(output: readonly OutputItem[], vendor: string): MessageParts {
  const parts: MessageParts = {
    texts: [],
    calls: [],
    executedTools: [],
    reasoning: {},
    thoughts: [],
    annotations: [],
    foreignReasoning: '',
  };
  for (const item of output) {
    if (item.type === 'message') {
      const { texts, refusal } = assistantContent(item, vendor, true);
      if (texts.length > 0) parts.texts.push(texts);
      if (refusal !== undefined) parts.refusal = refusal;
      for (const part of item.content)
        if (part.type === 'output_text') parts.annotations.push(...part.annotations.map(toChatAnnotation));
    } else if (item.type === 'function_call' && isLegacy(item)) {
      parts.legacyCall = { name: item.name, arguments: item.arguments };
    } else if (isCallItem(item)) {
      parts.calls.push(toToolCall(item, typeof item.call_id === 'string' ? item.call_id : '', vendor));
    } else if (item.type === 'vendor_item' && item.origin.wire === 'chat_completions') {
      parts.executedTools.push(item.item);
    } else if (item.type === 'reasoning') {
      const fields = reasoningFieldsOf(item);
      for (const field of fields) parts.reasoning[field] = reasoningText(item);
      parts.thoughts.push(...reasoningPartsOf(item));
      if (fields.length === 0)
        parts.foreignReasoning += reasoningText(item) || item.summary.map((part) => part.text).join('\n\n');
    }
  }
  return parts;
}

function citationsOf(output: readonly OutputItem[]): readonly JsonObject[] {
  let from = 0;
  return output.flatMap((item) => {
    if (item.type !== 'message') return [];
    const citations = urlCitationsOf(item, from);
    from += textLengthOf(item);
    return citations;
  });
}

/** Writes reasoning from other wires to `reasoning_content`, where most clients read it. */
function convertedCompletion(response: LLMResponse): JsonObject {
  const parts = collectMessageParts(response.output, response.vendor.name);
  const annotations = citationsOf(response.output);
  const refusal = refusalOf(response);
  const images = response.output.map(generatedImageOf).filter((image) => image !== undefined);
  const message = {
    role: 'assistant',
    content:
      response.output_text === '' && (parts.calls.length > 0 || refusal !== undefined) ? null : response.output_text,
    refusal: refusal ?? null,
    ...(parts.foreignReasoning === '' ? parts.reasoning : { reasoning_content: parts.foreignReasoning }),
    ...(annotations.length > 0 ? { annotations } : {}),
    ...(images.length > 0 ? { images: images.map(toChatImage) } : {}),
    ...(parts.calls.length > 0 ? { tool_calls: parts.calls } : {}),
  };
  return {
    id: response.id,
    object: 'chat.completion',
    created: response.created_at,
    model: response.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReasonOf(response, parts.calls.length > 0) }],
    usage: toChatUsage(response.usage),
  };
}

/** The `finish_reason` of a response. */
export function finishReasonOf(
  { status, incomplete_details }: Pick<LLMResponse, 'status' | 'incomplete_details'>,
  hasCalls: boolean,
): string {
  if (status !== 'incomplete') return hasCalls ? 'tool_calls' : 'stop';
  return incomplete_details?.reason === 'content_filter' ? 'content_filter' : 'length';
}
