/** Content blocks of an assistant's turn → items, for answers, streams and the histories that clients send. */
import { annotationOf } from './citations';
import { structuredAnswer } from '../request/structuredOutput';
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
  readonly trusted: boolean;
  /** The forced tool whose input is the answer. */
  readonly structuredOutputTool?: string | undefined;
  /** Inputs that a stream left unfinished, as text, by their block. */
  readonly brokenInputs?: ReadonlyMap<JsonObject, string> | undefined;
}

/** Neighbouring texts make one message; everything else is an item of its own, in order. */
export function assistantItems(blocks: readonly JsonObject[], context: BlockContext): OutputItem[] {
  const items: OutputItem[] = [];
  let parts: OutputText[] | undefined;
  for (const block of blocks) {
    const part = outputPart(block, context);
    if (part === undefined) {
      parts = undefined;
      items.push(blockItem(block, context));
    } else if (parts === undefined) {
      parts = [part];
      items.push(assistantText(parts));
    } else {
      parts.push(part);
    }
  }
  return items;
}

export function assistantText(
  content: readonly OutputText[],
  status: 'completed' | 'in_progress' = 'completed',
): MessageItem {
  return { type: 'message', role: 'assistant', status, content };
}

/** The part of a message that a block is, or `undefined` for a block that is an item. */
export function outputPart(block: JsonObject, context: BlockContext): OutputText | undefined {
  if (block.type === 'text') return textPart(block);
  if (!isStructuredAnswer(block, context)) return undefined;
  const broken = context.brokenInputs?.get(block);
  return { type: 'output_text', text: broken ?? structuredAnswer(block.name, block.input), annotations: [] };
}

export function isStructuredAnswer(block: JsonObject, context: BlockContext): block is JsonObject & { name: string } {
  return (
    context.structuredOutputTool !== undefined &&
    block.type === 'tool_use' &&
    block.name === context.structuredOutputTool
  );
}

function textPart(block: JsonObject): OutputText | undefined {
  const { type: _, text, ...rest } = block;
  if (typeof text !== 'string') return undefined;
  const annotations = Array.isArray(rest.citations) ? rest.citations.map(annotationOf) : [];
  // The mark says that the wire itself wrote this blank: what came from it goes back, other blanks are refused there.
  return {
    type: 'output_text',
    text,
    annotations,
    ...(isBlank(text) ? { vendor: { anthropic: rest } } : carried(rest)),
  };
}

export function blockItem(block: JsonObject, context: BlockContext): OutputItem {
  return (
    thinkingItem(block, context) ??
    callItem(block, context) ?? { type: 'vendor_item', origin: context.origin, item: block }
  );
}

/** Sealed thinking is good for the place that made it; a client's unsigned one is nobody's, and so has no origin. */
function thinkingItem(block: JsonObject, { origin, trusted }: BlockContext): ReasoningItem | undefined {
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
  const sealed = typeof signature === 'string';
  return {
    type: 'reasoning',
    summary: [],
    content: [{ type: 'reasoning_text', text: thinking }],
    ...(sealed ? { encrypted_content: signature } : {}),
    ...(trusted || (sealed && signature !== '') ? { origin } : {}),
    ...carried(sealed ? rest : others),
  };
}

function callItem(block: JsonObject, context: BlockContext): FunctionCallItem | undefined {
  const { type, id, name, input, ...rest } = block;
  if (type !== 'tool_use' || typeof id !== 'string' || id === '' || typeof name !== 'string') return undefined;
  const broken = context.brokenInputs?.get(block);
  if (broken !== undefined)
    return { type: 'function_call', call_id: id, name, arguments: broken, status: 'incomplete', ...carried(rest) };
  // An input that is no object has no text that would come back as the same input.
  const odd = input !== undefined && !isObject(input);
  return {
    type: 'function_call',
    call_id: id,
    name,
    arguments: JSON.stringify(input ?? {}),
    status: 'completed',
    ...carried(odd ? { ...rest, input } : rest),
  };
}

/** The remaining fields of a block as `vendor.anthropic`, so that they go back with it. */
export function carried(rest: JsonObject): { readonly vendor?: VendorPart } {
  return isEmpty(rest) ? {} : { vendor: { anthropic: rest } };
}

export function isBlank(text: string): boolean {
  return !/\S/.test(text);
}
