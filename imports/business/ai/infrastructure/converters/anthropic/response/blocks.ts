/** Content blocks of an assistant's turn → items, for answers, streams and the histories that clients send. */
import { toAnnotation } from './citations';
import { responseToolText } from '../request/structuredOutput';
import { isEmpty, isObject } from '../../../../domain/json';
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
  /** Whether thinking without a signature is vouched for: in an answer, not in what a client sends. */
  readonly isTrusted: boolean;
  /** The forced tool whose input is the answer. */
  readonly structuredOutputTool?: string | undefined;
  /** Inputs that a stream left unfinished, as text, by their block. */
  readonly brokenInputs?: ReadonlyMap<JsonObject, string> | undefined;
}

/** Neighbouring texts make one message; everything else is an item of its own, in order. */
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

/** The part of a message that a block is, or `undefined` for a block that is an item. */
export function toOutputPart(block: JsonObject, context: BlockContext): OutputText | undefined {
  if (block.type === 'text') return textPart(block);
  if (!isResponseToolCall(block, context)) return undefined;
  const broken = context.brokenInputs?.get(block);
  return { type: 'output_text', text: broken ?? responseToolText(block.name, block.input), annotations: [] };
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
  // The mark says that the wire itself wrote this blank: what came from it goes back, other blanks are refused there.
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

/** Sealed thinking is good for the place that made it; a client's unsigned one is nobody's, and so has no origin. */
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
  const broken = context.brokenInputs?.get(block);
  if (broken !== undefined)
    return { type: 'function_call', call_id: id, name, arguments: broken, status: 'incomplete', ...carryFields(rest) };
  // An input that is no object has no text that would come back as the same input.
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
