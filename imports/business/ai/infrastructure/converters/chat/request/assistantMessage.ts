/**
 * Converts items to the parts of an assistant message (text, calls, reasoning), which requests and the gateway's
 * responses assemble. https://platform.openai.com/docs/api-reference/chat/create#chat-create-messages
 */
import { vendorFieldsOf, isFromVendor, ownFieldsOf } from '../vendorFields';
import { fieldsOf, isList, isObject } from '../../../../domain/util/json';
import type {
  FunctionCallItem,
  HostedItem,
  InputText,
  MessageItem,
  OutputContent,
  ReasoningItem,
} from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

export interface AssistantText {
  readonly text: string;
  /** The wire's own content part, if the text came in one. */
  readonly part?: JsonObject;
}

export interface AssistantContent {
  readonly texts: readonly AssistantText[];
  /** For the message's `refusal` field. */
  readonly refusal?: string;
}

/** @param supportsRefusal whether the vendor accepts `refusal`; otherwise a refusal is sent as text */
export function assistantContent(item: MessageItem, vendor: string, supportsRefusal: boolean): AssistantContent {
  const texts: AssistantText[] = [];
  let refusal: string | undefined;
  for (const part of item.content) {
    const vendorFields = vendorFieldsOf(part);
    const own =
      part.vendor?.openai === undefined || !isFromVendor(vendorFields, vendor) ? undefined : ownFieldsOf(vendorFields);
    if (part.type === 'input_image' || part.type === 'input_file') continue;
    if (part.type === 'refusal' && own !== undefined && own.type !== 'refusal' && supportsRefusal)
      refusal = (refusal ?? '') + part.refusal;
    else texts.push(assistantText(part, own));
  }
  return refusal === undefined ? { texts } : { texts, refusal };
}

function assistantText(part: InputText | OutputContent, own: JsonObject | undefined): AssistantText {
  if (part.type === 'refusal')
    return own?.type === 'refusal'
      ? { text: part.refusal, part: { ...own, refusal: part.refusal } }
      : { text: part.refusal };
  return own === undefined ? { text: part.text } : { text: part.text, part: { ...own, type: 'text', text: part.text } };
}

/**
 * Texts that came as parts stay parts; all others become one string, which every vendor accepts. Reasoning that came in
 * parts precedes them.
 */
export function joinTexts(
  groups: readonly (readonly AssistantText[])[],
  thoughts: readonly JsonObject[] = [],
): string | JsonObject[] {
  const texts = groups.flat();
  if (thoughts.length > 0) return [...thoughts, ...texts.map(({ text, part }) => part ?? { type: 'text', text })];
  const parts = texts.map((text) => text.part).filter((part) => part !== undefined);
  if (parts.length === texts.length && parts.length > 0) return parts;
  return groups.map((group) => group.map(({ text }) => text).join('')).join('\n\n');
}

/** @param id the call's id, in a form that the vendor accepts */
export function toToolCall(item: FunctionCallItem | HostedItem, id: string, vendor: string): JsonObject {
  const vendorFields = vendorFieldsOf(item);
  const own = isFromVendor(vendorFields, vendor) ? ownFieldsOf(vendorFields) : {};
  if (item.type === 'function_call') {
    const functionFields = fieldsOf(own.function);
    // Servers of open models parse the arguments, and fail on an empty string.
    return {
      id,
      type: 'function',
      ...own,
      function: { ...functionFields, name: item.name, arguments: item.arguments || '{}' },
    };
  }
  const { name, input } = item;
  // Only the vendor that created a custom call is certain to support the type.
  if (item.vendor?.openai !== undefined && isFromVendor(vendorFields, vendor))
    return { id, type: 'custom', ...own, custom: { name, input } };
  return { id, type: 'function', function: { name, arguments: JSON.stringify({ input }) } };
}

export function isLegacy(item: FunctionCallItem): boolean {
  return vendorFieldsOf(item).legacy === true;
}

export function reasoningText(item: ReasoningItem): string {
  return item.content?.map((part) => part.text).join('') ?? '';
}

/** The content parts that held the text on this wire; none for other reasoning. */
export function reasoningPartsOf(item: ReasoningItem): readonly JsonObject[] {
  const parts = vendorFieldsOf(item).reasoning_parts;
  return isList(parts) ? parts.filter(isObject) : [];
}

/** The message fields that held the text on this wire; none for reasoning from other wires. */
export function reasoningFieldsOf(item: ReasoningItem): readonly string[] {
  const fields = vendorFieldsOf(item).reasoning_fields;
  return Array.isArray(fields) ? fields.filter((field) => typeof field === 'string') : [];
}
