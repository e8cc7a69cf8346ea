/** What a run of an agent comes back with. */
import type { RunResult } from '../business/ai/domain/entities/Run';
import { outputTextOf } from '../business/ai/domain/entities/Response';
import type { Item } from '../business/ai/domain/types/ResponsesAPITypes';

export interface AgentResult extends RunResult {
  /** The text of the answer. */
  readonly text: string;
  /** Why the model stopped, in the vendor's own words; null if the vendor did not state it. */
  readonly finishReason: string | null;
}

export function toAgentResult(result: RunResult): AgentResult {
  const { transcript, response } = result;
  // A vendor may deliver an answer in several responses.
  const start = transcript.findLastIndex(isInput) + 1;
  return { ...result, text: outputTextOf(transcript.slice(start)), finishReason: response.vendor.finish_reason };
}

function isInput(item: Item): boolean {
  return item.type === 'function_call_output' || (item.type === 'message' && item.role !== 'assistant');
}
