/**
 * Converts an assistant message of the chat wire to items: reasoning first, then text, then calls.
 * https://platform.openai.com/docs/api-reference/chat/object#chat-object-choices
 */
import { isText, without, withVendorFields } from '../vendorFields';
import { isThought, thoughtText } from '../thoughts';
import type { ChatVendorFields } from '../vendorFields';
import { fieldsOf, isEmpty, isList, isObject } from '../../../../domain/util/json';
import type {
  FunctionCallItem,
  HostedItem,
  ItemStatus,
  MessageItem,
  OutputContent,
  OutputItem,
  ReasoningItem,
} from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject, Origin } from '../../../../domain/types/VendorTypes';
import type { ReasoningField } from '../../stream/StreamEncoder';

export const REASONING_FIELDS = ['reasoning_content', 'reasoning'] as const satisfies readonly ReasoningField[];

export interface MessageSource {
  readonly origin: Origin;
  /** Absent for messages of a request. */
  readonly status?: ItemStatus;
  /** Generates an id for the call at this index if it came without one. */
  readonly callId: (index: number) => string;
}

export interface SplitAssistantMessage {
  readonly items: readonly OutputItem[];
  /**
   * The message's fields that no item represents. `tool_calls` contains, at its index, each call that its item
   * represents only in part.
   */
  readonly rest: JsonObject;
  readonly hasMessageItem: boolean;
}

export function splitAssistantMessage(message: JsonObject, source: MessageSource): SplitAssistantMessage {
  const texts = reasoningTexts(message);
  const rest = without(message, [...texts.values()].flat());
  const reasoning = [
    ...[...texts].map(([text, reasoning_fields]) => reasoningItem(text, { reasoning_fields }, source)),
    ...thoughtItems(rest.content, source),
  ];
  const calls = callItems(rest, source);
  const text = messageItem(rest, source, calls.length > 0);
  return {
    items: [...reasoning, ...(text === undefined ? [] : [text]), ...calls],
    rest,
    hasMessageItem: text !== undefined,
  };
}

/** Maps each text to the fields that hold it: a vendor that renames its field sends the text in both. */
function reasoningTexts(message: JsonObject): ReadonlyMap<string, readonly string[]> {
  const fieldsOfText = new Map<string, string[]>();
  for (const field of REASONING_FIELDS) {
    const text = message[field];
    if (isText(text)) fieldsOfText.set(text, [...(fieldsOfText.get(text) ?? []), field]);
  }
  return fieldsOfText;
}

function thoughtItems(content: unknown, source: MessageSource): ReasoningItem[] {
  const thoughts = isList(content) ? content.filter(isThought) : [];
  const text = thoughts.map(thoughtText).join('');
  return thoughts.length === 0 ? [] : [reasoningItem(text, { reasoning_parts: thoughts }, source)];
}

function reasoningItem(text: string, fields: ChatVendorFields, { origin, status }: MessageSource): ReasoningItem {
  return {
    type: 'reasoning',
    summary: [],
    content: [{ type: 'reasoning_text', text }],
    ...statusField(status),
    origin,
    ...withVendorFields({ ...fields }, origin.vendor),
  };
}

/** Together with calls, empty content is not a message. */
function messageItem(rest: JsonObject, source: MessageSource, hasCalls: boolean): MessageItem | undefined {
  const content = [...textParts(rest, hasCalls), ...refusalParts(rest, source)];
  if (content.length === 0 && hasCalls) return undefined;
  return { type: 'message', role: 'assistant', content, ...statusField(source.status) };
}

function textParts(rest: JsonObject, hasCalls: boolean): OutputContent[] {
  const { content } = rest;
  if (typeof content === 'string') {
    if (content === '' && hasCalls) return [];
    delete rest.content;
    return [{ type: 'output_text', text: content, annotations: [] }];
  }
  // Cloudflare sends structured output parsed: https://developers.cloudflare.com/workers-ai/features/json-mode/
  if (isObject(content)) {
    delete rest.content;
    return [{ type: 'output_text', text: JSON.stringify(content), annotations: [] }];
  }
  if (!isList(content)) return [];
  const firstOther = content.findIndex((part) => !isThought(part));
  const parts = (firstOther < 0 ? [] : content.slice(firstOther)).map(contentPart);
  const converted = parts.filter((part) => part !== undefined);
  // A part of an unknown type, or reasoning after text, leaves the entire list in the rest; its texts become items all
  // the same.
  if (converted.length === parts.length && content.length > 0) delete rest.content;
  return converted;
}

function contentPart(raw: unknown): OutputContent | undefined {
  if (!isObject(raw)) return undefined;
  if (raw.type === 'text' && typeof raw.text === 'string')
    return { type: 'output_text', text: raw.text, annotations: [], vendor: { openai: without(raw, ['type', 'text']) } };
  if (raw.type === 'refusal' && typeof raw.refusal === 'string')
    return { type: 'refusal', refusal: raw.refusal, vendor: { openai: without(raw, ['refusal']) } };
  return undefined;
}

function refusalParts(rest: JsonObject, { origin }: MessageSource): OutputContent[] {
  const { refusal } = rest;
  if (!isText(refusal)) return [];
  delete rest.refusal;
  return [{ type: 'refusal', refusal, vendor: { openai: origin.vendor === undefined ? {} : { from: origin.vendor } } }];
}

function callItems(rest: JsonObject, source: MessageSource): (FunctionCallItem | HostedItem)[] {
  const items: (FunctionCallItem | HostedItem)[] = [];
  if (isList(rest.tool_calls) && rest.tool_calls.length > 0) {
    const residues = rest.tool_calls.map((raw, index) => {
      const { item, residue } =
        isObject(raw) && raw.type !== 'function' && isObject(raw.custom)
          ? customCall(raw, raw.custom, index, source)
          : functionCall(fieldsOf(raw), index, source);
      items.push(item);
      return residue;
    });
    if (residues.every(isEmpty)) delete rest.tool_calls;
    else rest.tool_calls = residues;
  }
  // Snowflake writes every field, and leaves what it has nothing for empty.
  if (isObject(rest.function_call) && (isText(rest.function_call.name) || isText(rest.function_call.arguments)))
    items.push(legacyCall(rest, rest.function_call, source));
  return items;
}

interface ConvertedCall<I> {
  readonly item: I;
  /** What the item does not represent: the call's `index`, or the entire call if it violates the wire's format. */
  readonly residue: JsonObject;
}

function functionCall(raw: JsonObject, index: number, source: MessageSource): ConvertedCall<FunctionCallItem> {
  const calledFunction = fieldsOf(raw.function);
  const isRegular =
    isText(raw.id) && isText(raw.type) && typeof calledFunction.name === 'string' && isText(calledFunction.arguments);
  const functionFields = without(calledFunction, ['name', 'arguments']);
  const own = {
    ...ownCallFields(raw, source),
    ...(isEmpty(functionFields) ? {} : { function: functionFields }),
    ...(isText(raw.type) && raw.type !== 'function' ? { type: raw.type } : {}),
  };
  return {
    item: {
      type: 'function_call',
      call_id: isText(raw.id) ? raw.id : source.callId(index),
      name: typeof calledFunction.name === 'string' ? calledFunction.name : '',
      arguments: argumentsText(calledFunction.arguments),
      ...statusField(source.status),
      ...withVendorFields(own, source.origin.vendor),
    },
    residue: isRegular ? indexField(raw, source) : raw,
  };
}

function customCall(
  raw: JsonObject,
  calledTool: JsonObject,
  index: number,
  source: MessageSource,
): ConvertedCall<HostedItem> {
  const isRegular =
    isText(raw.id) &&
    raw.type === 'custom' &&
    typeof calledTool.name === 'string' &&
    typeof calledTool.input === 'string' &&
    Object.keys(calledTool).length === 2;
  const own = ownCallFields(raw, source);
  return {
    item: {
      type: 'custom_tool_call',
      call_id: isText(raw.id) ? raw.id : source.callId(index),
      name: typeof calledTool.name === 'string' ? calledTool.name : '',
      input: typeof calledTool.input === 'string' ? calledTool.input : '',
      ...statusField(source.status),
      origin: source.origin,
      vendor: { openai: source.origin.vendor === undefined ? own : { from: source.origin.vendor, ...own } },
    },
    residue: isRegular ? indexField(raw, source) : raw,
  };
}

/** A call in the deprecated form has no id. */
function legacyCall(rest: JsonObject, calledFunction: JsonObject, source: MessageSource): FunctionCallItem {
  const isRegular =
    typeof calledFunction.name === 'string' &&
    isText(calledFunction.arguments) &&
    Object.keys(calledFunction).length === 2;
  if (isRegular) delete rest.function_call;
  const fields: ChatVendorFields & JsonObject = { legacy: true };
  return {
    type: 'function_call',
    call_id: source.callId(0),
    name: typeof calledFunction.name === 'string' ? calledFunction.name : '',
    arguments: argumentsText(calledFunction.arguments),
    ...statusField(source.status),
    ...withVendorFields(fields, source.origin.vendor),
  };
}

/** `index` numbers the calls of a response. In a request it has no meaning, but is preserved as a field. */
function ownCallFields(raw: JsonObject, { status }: MessageSource): JsonObject {
  return without(
    raw,
    status === undefined ? ['id', 'type', 'function', 'custom'] : ['id', 'type', 'function', 'custom', 'index'],
  );
}

function indexField(raw: JsonObject, { status }: MessageSource): JsonObject {
  return status !== undefined && 'index' in raw ? { index: raw.index } : {};
}

/** Some vendors send an object instead of JSON text, or omit empty arguments. */
function argumentsText(value: unknown): string {
  if (isText(value)) return value;
  return isObject(value) ? JSON.stringify(value) : '{}';
}

function statusField(status: ItemStatus | undefined): { status?: ItemStatus } {
  return status === undefined ? {} : { status };
}
