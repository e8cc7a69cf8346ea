/**
 * The items of one model call inside an assistant message's metadata. AG-UI's messages hold text and calls only; the
 * client stores the metadata and returns it, so that reasoning, signatures and vendor items reach the model again.
 */
import { fieldsOf, isObjectList } from '../../business/ai/domain/util/json';
import type { FunctionCallItem, Item } from '../../business/ai/domain/types/ResponsesAPITypes';
import type { AgUiMetadata } from './AgUiMessages';
import type { AgUiToolCall } from './AgUiMessages';
import { parseWireCallId } from './agUiIds';

/** The text of the messages among the items; refusals count as text. */
export function textOfItems(items: readonly Item[]): string {
  let text = '';
  for (const item of items) {
    if (item.type !== 'message') continue;
    for (const part of item.content) {
      if (part.type === 'output_text' || part.type === 'input_text') text += part.text;
      else if (part.type === 'refusal') text += part.refusal;
    }
  }
  return text;
}

export function reasoningOfItems(items: readonly Item[]): string {
  return items
    .flatMap((item) => (item.type === 'reasoning' ? [...item.summary, ...(item.content ?? [])] : []))
    .map(({ text }) => text)
    .join('');
}

/** @returns undefined if the message's text and calls alone are the items again */
export function turnMetadata(items: readonly Item[]): AgUiMetadata | undefined {
  return items.every(isPlain) ? undefined : { bolide: { items } };
}

function isPlain(item: Item): boolean {
  if (item.type === 'function_call') return item.vendor === undefined;
  return (
    item.type === 'message' &&
    item.vendor === undefined &&
    item.phase === undefined &&
    item.content.every(
      (part) => part.type === 'output_text' && part.vendor === undefined && part.annotations.length === 0,
    )
  );
}

/**
 * The items that a message's metadata holds, if they still are what the message shows: an application may edit the
 * messages that it sends.
 */
export function itemsOfMessage(message: {
  readonly content?: string;
  readonly toolCalls?: readonly AgUiToolCall[];
  readonly metadata?: AgUiMetadata;
}): readonly Item[] | undefined {
  const { items } = fieldsOf(message.metadata?.['bolide']);
  if (!isObjectList(items)) return undefined;
  // The normalizer validates them, as it does all items that clients send.
  const given = items as unknown as readonly Item[];
  const calls = message.toolCalls ?? [];
  const callItems = given.filter((item): item is FunctionCallItem => item.type === 'function_call');
  const isUnchanged =
    hasReadableText(given) &&
    textOfItems(given) === (message.content ?? '') &&
    callItems.length === calls.length &&
    callItems.every((item, index) => {
      const called = calls[index]?.function;
      return item.name === called?.name && item.arguments === called.arguments;
    });
  if (!isUnchanged) return undefined;
  const ids = calls.map(({ id }) => toCallId(id));
  return given.map((item) =>
    item.type === 'function_call' ? { ...item, call_id: ids.shift() ?? item.call_id } : item,
  );
}

/** The id under which the model knows the call. */
export function toCallId(wireId: string): string {
  return parseWireCallId(wireId)?.callId ?? wireId;
}

/** `textOfItems` reads the parts of messages, and here the items are whatever the client sent. */
function hasReadableText(items: readonly Item[]): boolean {
  return items.every((item) => item.type !== 'message' || isObjectList(item.content));
}
