/** The result of a settled call, as the model is told it. */
import type { ToolCall, ToolResult } from '../../domain/entities/Tool';

/** @throws TypeError for a call that has none yet */
export function toToolResult(call: ToolCall): ToolResult {
  const facts = {
    call_id: call.id,
    state: call.state,
    executionTime: 'executionTime' in call ? call.executionTime : 0,
  };
  if (call.state === 'completed') return { content: call.result, ...facts };
  if ('error' in call) return { content: `Error: ${call.error.message}`, error: call.error, ...facts };
  throw new TypeError(`tool call ${call.id} is ${call.state} and has no result yet`);
}
