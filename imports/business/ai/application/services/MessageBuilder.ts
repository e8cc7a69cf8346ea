/** Builds the outputs of tool calls. */
import { inputText } from '../../domain/entities/Content';
import type { ToolResult } from '../../domain/entities/Tool';
import type { FunctionCallOutputItem } from '../../domain/types/ResponsesAPITypes';

/**
 * The output of a settled call. The model gets `result.content`, and the images if it sees any.
 * @param seesImages called only for results with images. Default: it does not
 */
export function toolOutput(result: ToolResult, name: string, seesImages = seesNone): FunctionCallOutputItem {
  const { call_id, images = [], state } = result;
  // Tools truncate text anywhere. Half a surrogate pair must not end the run.
  const content = result.content.toWellFormed();
  const output =
    images.length === 0 ? content : seesImages() ? [inputText(content), ...images] : `${content}\n${NOT_SHOWN}`;
  return { type: 'function_call_output', call_id, output, status: 'completed', name, state };
}

const seesNone = (): boolean => false;
const NOT_SHOWN = '[The images are not shown, because this model sees none.]';

/** The placeholder output of a call that is still running: every vendor requires one before the next turn. */
export function acknowledgement(callId: string, name: string): FunctionCallOutputItem {
  const text = `Call ${callId} was accepted and is still running. The result will follow as a message; do not guess it.`;
  return { type: 'function_call_output', call_id: callId, output: text, status: 'in_progress', name };
}

/** The result of a call that was acknowledged in an earlier turn. */
export function deferredOutput(result: ToolResult, name: string, seesImages = seesNone): FunctionCallOutputItem {
  return { deferred: true, ...toolOutput(result, name, seesImages) };
}
