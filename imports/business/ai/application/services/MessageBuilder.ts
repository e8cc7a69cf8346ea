/** Builds the outputs of tool calls. */
import type { ToolResult } from '../../domain/entities/Tool';
import type { FunctionCallOutputItem } from '../../domain/types/ResponsesAPITypes';

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
