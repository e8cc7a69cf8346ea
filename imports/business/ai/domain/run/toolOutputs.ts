/** Builds the outputs of tool calls as the model receives them. */
import { inputText } from '../entities/Content';
import type { ToolCall, ToolResult } from '../entities/Tool';
import type { FunctionCallOutputItem } from '../types/ResponsesAPITypes';
import { omitUndefined } from '../util/omitUndefined';

/**
 * The result of a settled call.
 * @throws TypeError for a call that has not settled
 */
export function toToolResult(call: ToolCall): ToolResult {
  const fields = {
    call_id: call.id,
    state: call.state,
    executionTime: 'executionTime' in call ? call.executionTime : 0,
  };
  if ('result' in call) return omitUndefined({ content: call.result, images: call.images, ...fields });
  if ('error' in call) return { content: `Error: ${call.error.message}`, error: call.error, ...fields };
  throw new TypeError(`Tool call "${call.id}" is ${call.state} and has no result yet.`);
}

/** The output of a settled call. A model that sees images gets them beside the text. */
export function toolOutput(result: ToolResult, name: string, seesImages: boolean): FunctionCallOutputItem {
  const { call_id, images = [], state } = result;
  // Tools truncate text anywhere. Half a surrogate pair must not end the run.
  const content = result.content.toWellFormed();
  const output =
    images.length === 0 ? content : seesImages ? [inputText(content), ...images] : `${content}\n${NOT_SHOWN}`;
  return { type: 'function_call_output', call_id, output, status: 'completed', name, state };
}

const NOT_SHOWN = '[The images are not shown, because this model sees none.]';

/** The placeholder output of a call that is still running: every vendor requires one before the next turn. */
export function acknowledgement(callId: string, name: string): FunctionCallOutputItem {
  const text = `Call ${callId} was accepted and is still running. The result will follow as a message; do not guess it.`;
  return { type: 'function_call_output', call_id: callId, output: text, status: 'in_progress', name };
}

/** The result of a call that was acknowledged in an earlier turn. */
export function deferredOutput(result: ToolResult, name: string, seesImages: boolean): FunctionCallOutputItem {
  return { deferred: true, ...toolOutput(result, name, seesImages) };
}
