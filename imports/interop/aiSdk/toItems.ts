/** Converts UI messages to the items of a conversation. */
import type {
  FunctionCallOutputItem,
  InputContent,
  Item,
  MessageItem,
} from '../../business/ai/domain/types/ResponsesAPITypes';
import { isObject } from '../../business/ai/domain/util/json';
import { resultOfNested } from './NestedUIMessage';
import { blocksOf } from './outputParts';
import type { ReadMessage, ReadPart, ReadToolPart } from './readUIMessages';

/** The items of `messages`, in order. The results of a step's calls follow the step. */
export function toItems(messages: readonly ReadMessage[]): readonly Item[] {
  return messages.flatMap(({ role, parts }) => (role === 'user' ? userItems(parts) : assistantItems(parts)));
}

function userItems(parts: readonly ReadPart[]): readonly Item[] {
  const content = parts.flatMap(userContent);
  return content.length === 0 ? [] : [{ type: 'message', role: 'user', content }];
}

function userContent(part: ReadPart): readonly InputContent[] {
  if (part.kind === 'text') return [{ type: 'input_text', text: part.text }];
  if (part.kind !== 'file') return [];
  const { mediaType, url, filename } = part;
  if (mediaType === 'image' || mediaType.startsWith('image/')) return [{ type: 'input_image', image_url: url }];
  const name = filename === undefined ? {} : { filename };
  return [{ type: 'input_file', ...(url.startsWith('data:') ? { file_data: url } : { file_url: url }), ...name }];
}

function assistantItems(parts: readonly ReadPart[]): readonly Item[] {
  const items: Item[] = [];
  let step: ReadPart[] = [];
  const endStep = (): void => {
    items.push(...stepItems(step));
    step = [];
  };
  for (const part of parts) {
    if (part.kind === 'step') endStep();
    else if (part.kind === 'steering') {
      endStep();
      items.push(...userItems(part.parts));
    } else step.push(part);
  }
  endStep();
  return items;
}

function stepItems(parts: readonly ReadPart[]): readonly Item[] {
  const calls = parts.filter((part): part is ReadToolPart => part.kind === 'tool');
  return [...(recordedOutput(parts, calls) ?? plainOutput(parts, calls)), ...calls.map(resultOf)];
}

/** The step's own items, unless its text or its calls were edited since. */
function recordedOutput(parts: readonly ReadPart[], calls: readonly ReadToolPart[]): readonly Item[] | undefined {
  const recorded = parts.find((part) => part.kind === 'output');
  if (recorded === undefined || !recorded.items.every(isModelOutput)) return undefined;
  // The normalizer checks the items as it checks all input.
  const items = recorded.items as unknown as readonly Item[];
  const texts = (list: readonly { readonly text: string }[]): string => list.map(({ text }) => text).join('');
  const shown = texts(parts.filter((part) => part.kind === 'text'));
  try {
    if (texts(blocksOf(items).filter(({ kind }) => kind === 'text')) !== shown) return undefined;
  } catch {
    return undefined;
  }
  const names = items.flatMap((item) => (item.type === 'function_call' ? [item.name] : []));
  if (JSON.stringify(names) !== JSON.stringify(calls.map(({ toolName }) => toolName))) return undefined;
  let index = 0;
  return items.map((item) => {
    if (item.type !== 'function_call') return item;
    const call = calls[index];
    index += 1;
    // A run replaces ids that its model used twice.
    return call === undefined ? item : { ...item, call_id: call.toolCallId };
  });
}

function isModelOutput(item: unknown): boolean {
  if (!isObject(item) || typeof item.type !== 'string') return false;
  if (item.type === 'message') return item.role === 'assistant';
  return item.type !== 'function_call_output' && item.type !== 'item_reference';
}

function plainOutput(parts: readonly ReadPart[], calls: readonly ReadToolPart[]): readonly Item[] {
  const content: MessageItem['content'] = parts.flatMap((part) =>
    part.kind === 'text' && part.text !== '' ? [{ type: 'output_text', text: part.text, annotations: [] }] : [],
  );
  return [
    ...(content.length === 0 ? [] : [{ type: 'message', role: 'assistant', content } as const]),
    ...calls.map(
      ({ toolCallId, toolName, input }) =>
        ({
          type: 'function_call',
          call_id: toolCallId,
          name: toolName,
          arguments: typeof input === 'string' ? input : JSON.stringify(input ?? {}),
        }) as const,
    ),
  ];
}

/** A conversation is valid only if every call has a result. */
function resultOf({ toolCallId, toolName, ...call }: ReadToolPart): FunctionCallOutputItem {
  const result = (output: string, state: string): FunctionCallOutputItem => ({
    type: 'function_call_output',
    call_id: toolCallId,
    name: toolName,
    output,
    state,
  });
  if (call.isPreliminary) return result(NOT_CARRIED_OUT, 'cancelled');
  switch (call.state) {
    case 'output-available':
      return result(textOf(call.output), 'completed');
    case 'output-error':
      return result(`Error: ${call.errorText ?? 'The tool failed.'}`, 'failed');
    case 'output-denied':
      return result(`Error: ${call.approval?.reason ?? 'The user rejected this call.'}`, 'failed');
    case 'input-streaming':
    case 'input-available':
    case 'approval-requested':
    case 'approval-responded':
      return result(NOT_CARRIED_OUT, 'cancelled');
  }
}

const NOT_CARRIED_OUT = 'Error: The call was not carried out.';

function textOf(output: unknown): string {
  return typeof output === 'string' ? output : (resultOfNested(output) ?? JSON.stringify(output ?? null));
}
