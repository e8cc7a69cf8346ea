/**
 * Writes what is sent for one turn of a conversation: the transcript with the operator's instructions, and the
 * answers to tool calls.
 */
import type { Tool, ToolResult } from '../../domain/entities/Tool';
import type { GenerateOptions } from '../../domain/types/LLMTypes';
import type { FunctionCallOutputItem, Item } from '../../domain/types/ResponsesAPITypes';

export interface Conversation {
  /** What the caller asked for; its `input` is the head of the transcript and is not sent again. */
  readonly base: GenerateOptions;
  /** The whole conversation, in order. */
  readonly transcript: readonly Item[];
  /** The tools that are offered, where they are not the caller's. */
  readonly tools?: readonly Tool[];
  /** A response that the host keeps, and how many items of the transcript it knows, its own output included. */
  readonly sent?: { readonly responseId: string; readonly upTo: number };
}

/** The request of the next turn. Where the host keeps the conversation, it gets only what came since. */
export function buildRequest({ base, transcript, tools, sent }: Conversation): GenerateOptions {
  return {
    ...base,
    ...(tools === undefined ? {} : { tools }),
    ...(sent === undefined
      ? { input: [...transcript] }
      : { previous_response_id: sent.responseId, input: transcript.slice(sent.upTo) }),
  };
}

/** The answer to a call that has settled. `result.content` is what the model is told. */
export function toolOutput(result: ToolResult, name: string): FunctionCallOutputItem {
  const { call_id, content, state } = result;
  // Tools cut texts wherever they like; half of a surrogate pair must not end the run.
  return { type: 'function_call_output', call_id, output: content.toWellFormed(), status: 'completed', name, state };
}

/** The answer to a call that goes on: every vendor demands one before the next turn. */
export function acknowledgement(callId: string, name: string): FunctionCallOutputItem {
  const text = `Call ${callId} was accepted and is still running. The result will follow as a message; do not guess it.`;
  return { type: 'function_call_output', call_id: callId, output: text, status: 'in_progress', name };
}

/** The result of a call that was acknowledged in an earlier turn. */
export function deferredOutput(result: ToolResult, name: string): FunctionCallOutputItem {
  return { deferred: true, ...toolOutput(result, name) };
}
