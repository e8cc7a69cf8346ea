/** Converts what a provider calls its output to items: providers from outside write it in many forms. */
import { randomUUID } from 'node:crypto';
import { LLMServerError } from '../../../domain/errors/LLMErrors';
import { fieldsOf, isList, isObject } from '../../../domain/util/json';
import type { OutputItem } from '../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../domain/types/VendorTypes';
import { normalizeInput } from '../ContentNormalizer';

/** The id of the call with the given number among those that have none. */
export type CallIds = (number: number) => string;

export function createCallId(): string {
  return `call_${randomUUID().replaceAll('-', '')}`;
}

/** Whether all items have the form in which the rest of the code reads them. */
export function isNormalOutput(output: readonly unknown[]): boolean {
  return output.every(isNormalItem);
}

function isNormalItem(item: unknown): boolean {
  if (!isObject(item) || typeof item.type !== 'string') return false;
  if (item.type === 'function_call') return isName(item.call_id) && typeof item.arguments === 'string';
  if (item.type === 'message') return isList(item.content) && item.content.every(isNormalPart);
  return !LOOSE_ITEMS.has(item.type);
}

function isNormalPart(part: unknown): boolean {
  return isObject(part) && typeof part.type === 'string' && !LOOSE_PARTS.has(part.type);
}

const LOOSE_PARTS: ReadonlySet<string> = new Set(['text', 'tool_use', 'tool_result']);
/** Parts of a message, and calls of Chat Completions, in the place of items. */
const LOOSE_ITEMS: ReadonlySet<string> = new Set([...LOOSE_PARTS, 'output_text', 'refusal', 'function', 'tool_call']);

/**
 * @returns the items, in which every call has an id and its arguments as text
 * @throws LLMServerError that names the value that is no item
 */
export function normalizeOutput(
  output: readonly unknown[],
  provider: string,
  callId: CallIds = createCallId,
): readonly OutputItem[] {
  if (isNormalOutput(output)) return output as readonly OutputItem[];
  let unnamed = 0;
  const nextId = (): string => {
    unnamed += 1;
    return callId(unnamed - 1);
  };
  try {
    return output.flatMap((item) =>
      isNormalItem(item) ? [item as OutputItem] : normalizeInput([withCallIds(toItem(item), nextId)]),
    );
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message.replace(/"input\[\d+\]/g, '"output[…]') : String(cause);
    throw new LLMServerError(`The provider "${provider}" returned an output item that is invalid: ${detail}`, {
      vendor: provider,
      retryable: false,
      cause,
    });
  }
}

/** The output in the forms of other APIs: Anthropic's `content`, a choice of Chat Completions, or text. */
export function looseOutput(given: JsonObject): readonly unknown[] {
  const { output, output_text, content, text, tool_calls } = given;
  if (isList(output) && output.length > 0) return output;
  const choice = isList(given.choices) ? fieldsOf(given.choices[0]).message : undefined;
  const message = [given.message, choice].find(isObject);
  if (message !== undefined) return [message];
  const body = [output, content, output_text, text].find(hasContent);
  return body === undefined && !isList(tool_calls) ? [] : [{ content: body ?? null, tool_calls }];
}

/** Whether nothing in the output could be shown, run or sent back. */
export function isEmptyOutput(output: readonly OutputItem[]): boolean {
  return output.every((item) => item.type === 'message' && item.content.length === 0);
}

function hasContent(value: unknown): boolean {
  return isList(value) ? value.length > 0 : typeof value === 'string' && value !== '';
}

function toItem(item: unknown): unknown {
  if (typeof item === 'string') return { role: 'assistant', content: item };
  if (!isObject(item)) return item;
  const { type } = item;
  if (type === 'function' || type === 'tool_call')
    return { role: 'assistant', tool_calls: [{ ...item, type: 'function' }] };
  if (typeof type === 'string' && LOOSE_ITEMS.has(type)) return { role: 'assistant', content: [item] };
  const isMessage = type === 'message' || (type === undefined && ('content' in item || 'tool_calls' in item));
  return isMessage ? { ...item, role: item.role ?? 'assistant' } : item;
}

function withCallIds(item: unknown, nextId: () => string): unknown {
  if (!isObject(item)) return item;
  if (item.type === 'function_call')
    return { ...item, call_id: isName(item.call_id) ? item.call_id : isName(item.id) ? item.id : nextId() };
  const withId = (call: unknown): unknown => (isObject(call) && !isName(call.id) ? { ...call, id: nextId() } : call);
  const { content, tool_calls } = item;
  return {
    ...item,
    ...(isList(content)
      ? { content: content.map((part) => (fieldsOf(part).type === 'tool_use' ? withId(part) : part)) }
      : {}),
    ...(isList(tool_calls) ? { tool_calls: tool_calls.map(withId) } : {}),
  };
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
