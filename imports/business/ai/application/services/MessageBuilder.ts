/**
 * Builds the request for one turn of a conversation (the transcript with the operator's instructions), and the outputs
 * of tool calls.
 */
import type { Tool, ToolResult } from '../../domain/entities/Tool';
import type { GenerateOptions } from '../../domain/types/LLMTypes';
import type { FunctionCallOutputItem, Item } from '../../domain/types/ResponsesAPITypes';

export interface Conversation {
  /** The caller's options. Their `input` is the head of the transcript and is not sent again. */
  readonly base: GenerateOptions;
  /** The entire conversation, in order. */
  readonly transcript: readonly Item[];
  /** The offered tools, if they differ from the caller's. */
  readonly tools?: readonly Tool[];
  /** A response that the vendor stores, and how many items of the transcript it covers, its own output included. */
  readonly sent?: { readonly responseId: string; readonly upTo: number };
}

/** The request for the next turn. If the vendor stores the conversation, only the new items are sent. */
export function buildRequest({ base, transcript, tools, sent }: Conversation): GenerateOptions {
  return {
    ...base,
    ...(tools === undefined ? {} : { tools }),
    ...(sent === undefined
      ? { input: [...transcript] }
      : { previous_response_id: sent.responseId, input: transcript.slice(sent.upTo) }),
  };
}

/** The output of a settled call. The model gets `result.content`. */
export function toolOutput(result: ToolResult, name: string): FunctionCallOutputItem {
  const { call_id, content, state } = result;
  // Tools truncate text anywhere. Half a surrogate pair must not end the run.
  return { type: 'function_call_output', call_id, output: content.toWellFormed(), status: 'completed', name, state };
}

/** The placeholder output of a call that is still running: every vendor requires one before the next turn. */
export function acknowledgement(callId: string, name: string): FunctionCallOutputItem {
  const text = `Call ${callId} was accepted and is still running. The result will follow as a message; do not guess it.`;
  return { type: 'function_call_output', call_id: callId, output: text, status: 'in_progress', name };
}

/** The result of a call that was acknowledged in an earlier turn. */
export function deferredOutput(result: ToolResult, name: string): FunctionCallOutputItem {
  return { deferred: true, ...toolOutput(result, name) };
}
