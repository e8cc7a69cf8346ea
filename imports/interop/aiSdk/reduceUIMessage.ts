/** Builds a message from the chunks of its stream, as the AI SDK's client does. */
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import { unreachable } from '../../business/ai/domain/util/unreachable';
import type { ToolPart, UIMessage, UIMessageChunk, UIMessagePart } from './UIMessages';

/** @param id the message's id unless its `start` names another */
export function reduceUIMessage(chunks: Iterable<UIMessageChunk>, id = ''): UIMessage {
  const message: UIMessage = { id, role: 'assistant', parts: [] };
  for (const chunk of chunks) applyChunk(message, chunk);
  return message;
}

/** Adds a chunk to the message, which is changed. */
export function applyChunk(message: UIMessage, chunk: UIMessageChunk): void {
  const { parts } = message;
  switch (chunk.type) {
    case 'start':
      if (chunk.messageId !== undefined) message.id = chunk.messageId;
      addMetadata(message, chunk.messageMetadata);
      return;
    case 'finish':
    case 'message-metadata':
      addMetadata(message, chunk.messageMetadata);
      return;
    case 'start-step':
      parts.push({ type: 'step-start' });
      return;
    case 'reset-step':
      parts.splice(parts.findLastIndex(({ type }) => type === 'step-start') + 1);
      return;
    case 'text-start':
      parts.push({ type: 'text', text: '', state: 'streaming' });
      return;
    case 'reasoning-start':
      parts.push({ type: 'reasoning', id: chunk.id, text: '', state: 'streaming' });
      return;
    case 'text-delta':
    case 'reasoning-delta': {
      const part = openText(parts, chunk.type === 'text-delta' ? 'text' : 'reasoning');
      if (part !== undefined) part.text += chunk.delta;
      return;
    }
    case 'text-end':
    case 'reasoning-end': {
      const part = openText(parts, chunk.type === 'text-end' ? 'text' : 'reasoning');
      if (part !== undefined) part.state = 'done';
      return;
    }
    case 'tool-input-available': {
      const { toolCallId, toolName, input, providerMetadata: callProviderMetadata } = chunk;
      parts.push({
        type: `tool-${toolName}`,
        toolCallId,
        state: 'input-available',
        input,
        ...omitUndefined({ callProviderMetadata }),
      });
      return;
    }
    case 'tool-approval-request':
      changeTool(parts, chunk.toolCallId, {
        state: 'approval-requested',
        approval: omitUndefined({ id: chunk.approvalId, requestReason: chunk.reason }),
      });
      return;
    case 'tool-approval-response': {
      const part = toolParts(parts).find(({ approval }) => approval?.id === chunk.approvalId);
      if (part === undefined) return;
      const { approvalId, approved, reason } = chunk;
      part.state = 'approval-responded';
      part.approval = { ...part.approval, id: approvalId, approved, ...omitUndefined({ reason }) };
      return;
    }
    case 'tool-output-available':
      changeTool(parts, chunk.toolCallId, {
        state: 'output-available',
        output: chunk.output,
        ...omitUndefined({ preliminary: chunk.preliminary }),
      });
      return;
    case 'tool-output-error':
      changeTool(parts, chunk.toolCallId, { state: 'output-error', errorText: chunk.errorText });
      return;
    case 'tool-output-denied':
      changeTool(parts, chunk.toolCallId, { state: 'output-denied' });
      return;
    case 'source-url':
    case 'file':
    case 'custom':
    case 'steering-message':
      parts.push({ ...chunk });
      return;
    case 'tool-input-start':
    case 'tool-input-delta':
    case 'finish-step':
    case 'error':
    case 'abort':
      return;
    default: {
      if (!isDataChunk(chunk)) return unreachable(chunk);
      if (chunk.transient === true) return;
      const { type, id, data } = chunk;
      const existing = parts.find((part) => part.type === type && 'id' in part && part.id === id);
      if (existing === undefined || id === undefined) parts.push({ type, ...omitUndefined({ id }), data });
      else Object.assign(existing, { data });
    }
  }
}

function isDataChunk(chunk: UIMessageChunk): chunk is Extract<UIMessageChunk, { type: `data-${string}` }> {
  return chunk.type.startsWith('data-');
}

function addMetadata(message: UIMessage, metadata: unknown): void {
  if (metadata !== undefined)
    message.metadata = { ...(message.metadata as object | undefined), ...(metadata as object) };
}

function openText(
  parts: readonly UIMessagePart[],
  type: 'text' | 'reasoning',
): Extract<UIMessagePart, { type: 'text' | 'reasoning' }> | undefined {
  return parts
    .filter((part) => part.type === 'text' || part.type === 'reasoning')
    .findLast((part) => part.type === type && part.state === 'streaming');
}

function toolParts(parts: readonly UIMessagePart[]): readonly ToolPart[] {
  return parts.filter((part): part is ToolPart => part.type.startsWith('tool-'));
}

function changeTool(parts: readonly UIMessagePart[], toolCallId: string, change: Partial<ToolPart>): void {
  const part = toolParts(parts).findLast((each) => each.toolCallId === toolCallId);
  if (part === undefined) return;
  delete part.preliminary;
  Object.assign(part, change);
}
