/** A run's conversation as messages, including what the model is writing and the live state of its calls. */
import { isErrorState, isToolCallState } from '../../business/ai/domain/entities/Tool';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import { isRecalledMessage } from '../../business/ai/domain/entities/recalledMemories';
import type {
  Content,
  FunctionCallItem,
  FunctionCallOutputItem,
  Item,
} from '../../business/ai/domain/types/ResponsesAPITypes';
import type { ToolCallView } from '../../business/ai/domain/types/RunViews';
import type { RunDetails } from '../data/DashboardData';
import { parseItems } from '../data/reducers/parseItems';
import type { AttachmentPart, ConversationMessage, MessagePart, TextPart, ToolPart } from './ConversationMessage';

type Role = ConversationMessage['role'];

export function toMessages({ run, items, calls, liveText }: RunDetails): readonly ConversationMessage[] {
  const messages: { readonly role: Role; readonly parts: MessagePart[] }[] = [];
  const partsOf = (role: Role): MessagePart[] => {
    const last = messages.at(-1);
    if (last?.role === role && role === 'assistant') return last.parts;
    const parts: MessagePart[] = [];
    messages.push({ role, parts });
    return parts;
  };
  // The calls of earlier runs are not among the run's own, and models repeat ids.
  const ownStart = parseItems(run.input).length;
  const ownCalls = new Map(calls.map((call) => [call.callId, call]));
  const open = new Map<string, { readonly parts: MessagePart[]; readonly index: number }>();
  items.forEach((item, index) => {
    switch (item.type) {
      case 'message':
        // The user has not written it.
        if (isRecalledMessage(item)) break;
        partsOf(roleOf(item.role)).push(...item.content.map(toPart));
        break;
      case 'reasoning': {
        const text = [...item.summary, ...(item.content ?? [])].map((part) => part.text).join('\n');
        if (text !== '') partsOf('assistant').push({ type: 'reasoning', text, isStreaming: false });
        break;
      }
      case 'function_call': {
        const own = index < ownStart ? undefined : ownCalls.get(item.call_id);
        ownCalls.delete(own?.callId ?? '');
        const parts = partsOf('assistant');
        if (own === undefined) open.set(item.call_id, { parts, index: parts.length });
        parts.push(own === undefined ? toPastCall(item) : toLiveCall(own));
        break;
      }
      case 'function_call_output': {
        const call = open.get(item.call_id);
        const part = call?.parts[call.index];
        if (call !== undefined && part?.type === 'tool') call.parts[call.index] = withOutput(part, item);
        break;
      }
      default:
    }
  });
  const live = [
    // Calls whose response is not in the transcript yet.
    ...[...ownCalls.values()].map(toLiveCall),
    ...(['reasoning', 'text'] as const).flatMap((type): readonly TextPart[] =>
      liveText[type] === '' ? [] : [{ type, text: liveText[type], isStreaming: true }],
    ),
  ];
  if (live.length > 0) partsOf('assistant').push(...live);
  return messages.map((message, index) => ({ id: messageId(index), ...message }));
}

/** By position, so that a message that is sent keeps the id under which it was shown before. */
export function messageId(index: number): string {
  return `message-${index}`;
}

function roleOf(role: Extract<Item, { type: 'message' }>['role']): Role {
  return role === 'user' || role === 'assistant' ? role : 'system';
}

function toPart(part: Content): MessagePart {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
      return { type: 'text', text: part.text, isStreaming: false };
    case 'refusal':
      return { type: 'text', text: part.refusal, isStreaming: false };
    case 'input_image':
      return attachment('image', part.image_url);
    case 'input_file':
      return attachment('file', part.file_url ?? part.file_data, part.filename);
  }
}

function attachment(kind: AttachmentPart['kind'], url?: string, filename?: string): AttachmentPart {
  return omitUndefined({ type: 'attachment', kind, url, filename });
}

function toLiveCall(call: ToolCallView): ToolPart {
  const { callId, name, state, blocking, progress, note, result, error } = call;
  return omitUndefined({
    type: 'tool',
    callId,
    name,
    arguments: call.arguments,
    state,
    blocking,
    progress,
    note,
    result,
    error,
  });
}

function toPastCall({ call_id: callId, name, arguments: args }: FunctionCallItem): ToolPart {
  return { type: 'tool', callId, name, arguments: args, state: 'cancelled', blocking: true };
}

/** An acknowledgement shows that the call did not block. Its result may follow. */
function withOutput(part: ToolPart, { output, status, deferred, state }: FunctionCallOutputItem): ToolPart {
  if (status === 'in_progress') return { ...part, blocking: false };
  const text = typeof output === 'string' ? output : output.map((each) => ('text' in each ? each.text : '')).join('\n');
  const outcome = isErrorState(state) ? { error: text } : { result: text };
  const blocking = deferred === true ? false : part.blocking;
  return { ...part, blocking, state: isToolCallState(state) ? state : 'completed', ...outcome };
}
