/**
 * Completes the calls of a chat's messages that settled after their messages had ended: in a later turn of the run, or
 * after the client had stopped it.
 */
import { isSettled } from '../../business/ai/domain/entities/Tool';
import type { ToolCall } from '../../business/ai/domain/entities/Tool';
import type { ReadMessage, ReadPart } from '../../interop/aiSdk/readUIMessages';
import { turnOf } from './chatTurns';

/** @param callsOf loads the calls of the run; it is called if the messages have calls of it that had not settled */
export async function withSettledCalls(
  messages: readonly ReadMessage[],
  executionId: string,
  callsOf: () => Promise<readonly ToolCall[]>,
): Promise<readonly ReadMessage[]> {
  const isOfRun = ({ id, role }: ReadMessage): boolean =>
    role === 'assistant' && turnOf(id).executionId === executionId;
  if (!messages.some((message) => isOfRun(message) && message.parts.some(isOpen))) return messages;
  const calls = new Map((await callsOf()).map((call) => [call.id, call]));
  const settle = (part: ReadPart): ReadPart => {
    const call = part.kind === 'tool' ? calls.get(part.toolCallId) : undefined;
    if (part.kind !== 'tool' || !isOpen(part) || call === undefined || !isSettled(call)) return part;
    if (call.state === 'completed')
      return { ...part, state: 'output-available', output: call.result, isPreliminary: false };
    return 'error' in call ? { ...part, state: 'output-error', errorText: call.error.message } : part;
  };
  return messages.map((message) =>
    isOfRun(message) ? { ...message, parts: message.parts.map((part) => settle(part)) } : message,
  );
}

function isOpen(part: ReadPart): boolean {
  return part.kind === 'tool' && (part.isPreliminary || !part.state.startsWith('output-'));
}
