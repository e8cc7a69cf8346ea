/** A message that was sent in a conversation. */
import type { LLMInput } from '../../business/ai/domain/types/LLMTypes';
import { DashboardError } from '../data/DashboardData';
import type { ConversationMessage } from './ConversationMessage';
import { messageId } from './toMessages';

export interface ConversationError {
  readonly code: string;
  readonly message: string;
}

export interface Outgoing {
  /** The id of the request or, if it was sent to a run, of the message. */
  readonly requestId: string;
  /** Undefined if the last answer is to be replaced. */
  readonly input: LLMInput | undefined;
  /** The run that was the newest. */
  readonly after: string | undefined;
  /** Whether it was sent to that run, which was answering. */
  readonly isMessage?: true;
  /** The run that was started. */
  readonly executionId?: string;
  readonly error?: ConversationError;
}

/** Over HTTP and over DDP. It is unknown whether the message has arrived. */
const LOST_CONNECTION = new Set(['connection-failed', 'invocation-failed']);

/** Whether sending the input now is the same request as before, which the server carries out once. */
export function isSameRequest(before: Outgoing, input: LLMInput | undefined): boolean {
  return LOST_CONNECTION.has(before.error?.code ?? '') && JSON.stringify(before.input) === JSON.stringify(input);
}

export function toConversationError(thrown: unknown): ConversationError {
  if (thrown instanceof DashboardError) return { code: thrown.code, message: thrown.message };
  return { code: 'unexpected', message: thrown instanceof Error ? thrown.message : String(thrown) };
}

/** The message as it is shown until its run has arrived. */
export function toPendingMessage(before: readonly ConversationMessage[], input: LLMInput): ConversationMessage {
  const text = typeof input === 'string' ? input : input.map(textOf).join('\n');
  return { id: messageId(before.length), role: 'user', parts: [{ type: 'text', text, isStreaming: false }] };
}

function textOf(message: Exclude<LLMInput, string>[number]): string {
  if (typeof message === 'string') return message;
  const content = 'content' in message ? message.content : undefined;
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: unknown) => (isTextPart(part) ? part.text : '')).join('');
}

function isTextPart(part: unknown): part is { readonly text: string } {
  return typeof part === 'object' && part !== null && 'text' in part && typeof part.text === 'string';
}
