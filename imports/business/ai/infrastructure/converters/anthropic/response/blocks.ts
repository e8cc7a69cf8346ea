/**
 * Converts the content blocks of an assistant turn to items, for responses, streams and client histories.
 * https://platform.claude.com/docs/en/api/messages
 */
import { toAnnotation } from './citations';
import { responseToolText, wrapsValue } from '../request/structuredOutput';
import { isEmpty, isObject } from '../../../../domain/util/json';
import type {
  FunctionCallItem,
  MessageItem,
  OutputItem,
  OutputText,
  ReasoningItem,
} from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject, Origin, VendorPart } from '../../../../domain/types/VendorTypes';

export interface BlockContext {
  readonly origin: Origin;
  /** Whether thinking without a signature is genuine, which it is in a response, but not in a client's request. */
  readonly isTrusted: boolean;
  /** The forced tool whose input is the response. */
  readonly structuredOutputTool?: string | undefined;
  /** Tool inputs as a stream wrote them, by block: incomplete ones, and those of the forced tool. */
  readonly inputTexts?: ReadonlyMap<JsonObject, string> | undefined;
}

/** Adjacent texts form one message, every other block its own item. */
export function toOutputItems(blocks: readonly JsonObject[], context: BlockContext): OutputItem[] {
  const items: OutputItem[] = [];
  let parts: OutputText[] | undefined;
  for (const block of blocks) {
    const part = toOutputPart(block, context);
    if (part === undefined) {
      parts = undefined;
      items.push(toOutputItem(block, context));
    } else if (parts === undefined) {
      parts = [part];
      items.push(assistantMessage(parts));
    } else {
      parts.push(part);
    }
  }
  return items;
}

export function assistantMessage(
  content: readonly OutputText[],
  status: 'completed' | 'in_progress' = 'completed',
): MessageItem {
  return { type: 'message', role: 'assistant', status, content };
}

/** Converts a block that is part of a message. Returns `undefined` for a block that is an item. */
export function toOutputPart(block: JsonObject, context: BlockContext): OutputText | undefined {
  if (block.type === 'text') return textPart(block);
  if (!isResponseToolCall(block, context)) return undefined;
  const written = context.inputTexts?.get(block);
  return { type: 'output_text', text: written ?? responseToolText(block.name, block.input), annotations: [] };
}

/** Whether the block's input is the response's text as it is written. */
export function streamsAsText(block: JsonObject, context: BlockContext): boolean {
  return isResponseToolCall(block, context) && !wrapsValue(block.name);
}

export function isResponseToolCall(block: JsonObject, context: BlockContext): block is JsonObject & { name: string } {
  return (
    context.structuredOutputTool !== undefined &&
    block.type === 'tool_use' &&
    block.name === context.structuredOutputTool
  );
}

function textPart(block: JsonObject): OutputText | undefined {
  const { type: _, text, ...rest } = block;
  if (typeof text !== 'string') return undefined;
  const annotations = Array.isArray(rest.citations) ? rest.citations.map(toAnnotation) : [];
  // The vendor fields show that the API produced this blank text, so it may be returned. Other blank texts are
  // rejected.
  return {
    type: 'output_text',
    text,
    annotations,
    ...(isBlank(text) ? { vendor: { anthropic: rest } } : carryFields(rest)),
  };
}

export function toOutputItem(block: JsonObject, context: BlockContext): OutputItem {
  return (
    thinkingItem(block, context) ??
    callItem(block, context) ?? { type: 'vendor_item', origin: context.origin, item: block }
  );
}

/** Signed thinking belongs to the vendor that signed it. Unsigned thinking from a client has no origin. */
function thinkingItem(block: JsonObject, { origin, isTrusted }: BlockContext): ReasoningItem | undefined {
  const { type, ...fields } = block;
  if (type === 'redacted_thinking') {
    const { data, ...rest } = fields;
    if (typeof data !== 'string') return undefined;
    return {
      type: 'reasoning',
      summary: [],
      encrypted_content: data,
      origin,
      vendor: { anthropic: { type, ...rest } },
    };
  }
  const { thinking, ...others } = fields;
  if (type !== 'thinking' || typeof thinking !== 'string') return undefined;
  const { signature, ...rest } = others;
  const isSigned = typeof signature === 'string';
  return {
    type: 'reasoning',
    summary: [],
    content: [{ type: 'reasoning_text', text: thinking }],
    ...(isSigned ? { encrypted_content: signature } : {}),
    ...(isTrusted || (isSigned && signature !== '') ? { origin } : {}),
    ...carryFields(isSigned ? rest : others),
  };
}

function callItem(block: JsonObject, context: BlockContext): FunctionCallItem | undefined {
  const { type, id, name, input, ...rest } = block;
  if (type !== 'tool_use' || typeof id !== 'string' || id === '' || typeof name !== 'string') return undefined;
  const broken = context.inputTexts?.get(block);
  if (broken !== undefined)
    return { type: 'function_call', call_id: id, name, arguments: broken, status: 'incomplete', ...carryFields(rest) };
  // `arguments` cannot represent an input that is not an object, so the original is stored as well.
  const isMalformed = input !== undefined && !isObject(input);
  return {
    type: 'function_call',
    call_id: id,
    name,
    arguments: JSON.stringify(input ?? {}),
    status: 'completed',
    ...carryFields(isMalformed ? { ...rest, input } : rest),
  };
}

/** The remaining fields of a block as `vendor.anthropic`, so that they go back with it. */
export function carryFields(rest: JsonObject): { readonly vendor?: VendorPart } {
  return isEmpty(rest) ? {} : { vendor: { anthropic: rest } };
}

export function isBlank(text: string): boolean {
  return !/\S/.test(text);
}
