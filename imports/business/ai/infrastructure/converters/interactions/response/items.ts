/** Converts the steps of an interaction to items. https://ai.google.dev/api/interactions-api#Resource:Step */
import { isList, isObject } from '../../../../domain/util/json';
import type {
  FunctionCallItem,
  ItemStatus,
  MessageItem,
  OutputItem,
  OutputText,
  ReasoningItem,
} from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject, Origin } from '../../../../domain/types/VendorTypes';
import { vendorFields } from '../interactionsTypes';
import type { InteractionStep } from '../interactionsTypes';
import { toAnnotations } from './annotations';

export interface StepContext {
  readonly origin: Origin;
  /** The arguments of calls as the stream had them, by step: a step itself holds them parsed. */
  readonly argumentTexts?: ReadonlyMap<InteractionStep, string> | undefined;
}

/**
 * A model's texts are a message, and its other contents items of their own: a message can't hold them. What the user
 * has sent comes with stored interactions, and is no output.
 */
export function toOutputItems(step: InteractionStep, context: StepContext, status: ItemStatus): readonly OutputItem[] {
  switch (step.type) {
    case 'user_input':
      return [];
    case 'thought':
      return [toReasoning(step, context, status)];
    case 'function_call':
      return [toFunctionCall(step, context, status)];
    case 'model_output':
      return toMessages(step, context, status);
    default:
      return [{ type: 'vendor_item', origin: context.origin, item: step }];
  }
}

export function toReasoning(step: InteractionStep, { origin }: StepContext, status: ItemStatus): ReasoningItem {
  const { type: _, signature, summary, ...rest } = step;
  const contents = isList(summary) ? summary : [];
  const isPlain = contents.every((content) => isObject(content) && isPlainText(content));
  // A summary with images goes back as it came, and is read without them.
  const own = isPlain ? rest : { ...rest, summary };
  return {
    type: 'reasoning',
    summary: contents.flatMap((content) =>
      isObject(content) && typeof content.text === 'string'
        ? [{ type: 'summary_text' as const, text: content.text }]
        : [],
    ),
    ...(typeof signature === 'string' ? { encrypted_content: signature } : {}),
    status,
    origin,
    ...vendorFields(own),
  };
}

function isPlainText(content: JsonObject): boolean {
  return content.type === 'text' && typeof content.text === 'string' && Object.keys(content).length === 2;
}

export function toFunctionCall(
  step: InteractionStep,
  { argumentTexts }: StepContext,
  status: ItemStatus,
): FunctionCallItem {
  const { type: _, id, name, arguments: args, ...rest } = step;
  return {
    type: 'function_call',
    call_id: String(id),
    name: String(name),
    arguments: argumentTexts?.get(step) ?? JSON.stringify(args ?? {}),
    status,
    ...vendorFields(rest),
  };
}

function toMessages(step: InteractionStep, { origin }: StepContext, status: ItemStatus): readonly OutputItem[] {
  const { type: _, content, ...rest } = step;
  const items: OutputItem[] = [];
  let parts: OutputText[] | undefined;
  for (const part of isList(content) ? content.filter(isObject) : []) {
    if (part.type !== 'text') {
      parts = undefined;
      items.push({ type: 'vendor_item', origin, item: { type: 'model_output', content: [part] } });
    } else if (parts === undefined) {
      parts = [toOutputText(part)];
      items.push(assistantMessage(parts, status, rest));
    } else parts.push(toOutputText(part));
  }
  return items;
}

export function assistantMessage(
  content: readonly OutputText[],
  status: ItemStatus,
  own: JsonObject = {},
): MessageItem {
  return { type: 'message', role: 'assistant', status, content, ...vendorFields(own) };
}

export function toOutputText(part: JsonObject): OutputText {
  const { type: _, text, ...rest } = part;
  const { annotations } = rest;
  const value = typeof text === 'string' ? text : '';
  return {
    type: 'output_text',
    text: value,
    annotations: isList(annotations) ? toAnnotations(annotations, value) : [],
    ...vendorFields(rest),
  };
}
