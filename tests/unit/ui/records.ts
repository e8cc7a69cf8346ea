/** A run and a tool call as the dashboard's views show them, for the tests of its pages. */
import type { Item } from '../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { NO_USAGE as NO_MODEL_USAGE } from '../../../imports/business/ai/domain/entities/Response';
import type { RequestView } from '../../../imports/business/ai/domain/types/RequestRecords';
import type { RunDetailView, ToolCallView } from '../../../imports/business/ai/domain/types/RunViews';
import { NO_USAGE } from '../../../imports/ui/data/reducers/usageView';

export const RUN: RunDetailView = {
  _id: 'r',
  userId: 'ann',
  providerId: 'openai',
  state: 'running',
  createdAt: 1_000,
  startedAt: 1_000,
  iterations: 0,
  usage: NO_USAGE,
  title: 'Weather in Oslo',
};

export function toolCall(fields: Partial<ToolCallView>): ToolCallView {
  return {
    _id: 'r:a',
    executionId: 'r',
    callId: 'a',
    name: 'tool',
    blocking: true,
    state: 'executing',
    arguments: '{}',
    ...fields,
  };
}

export function callOutput(call_id: string, fields: object = {}): Item {
  return { type: 'function_call_output', call_id, output: 'x', ...fields };
}

/** A model call as the request log has it. */
export function requestView(fields: Partial<RequestView>): RequestView {
  return {
    _id: 'q',
    source: 'run',
    executionId: 'r',
    at: 1_000,
    userId: 'ann',
    isStream: true,
    state: 'completed',
    attempts: [],
    duration: 100,
    durationBucket: 1,
    usage: NO_MODEL_USAGE,
    ...fields,
  };
}
