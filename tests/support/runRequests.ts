/** Builders of run records with defaults, so that a test states only the fields it is about. */
import { createToolCall } from '../../imports/business/ai/domain/entities/Tool';
import type { ToolCall } from '../../imports/business/ai/domain/entities/Tool';
import { userMessage } from '../../imports/business/ai/domain/entities/Message';
import type { RunRequest } from '../../imports/business/ai/domain/types/RunRecords';

export function runRequest(executionId: string, fields: Partial<RunRequest> = {}): RunRequest {
  return {
    executionId,
    userId: 'ann',
    requestId: executionId,
    argumentsHash: 'hash',
    source: 'job',
    providerId: 'openai',
    title: 'A question',
    createdAt: 1_000,
    input: [userMessage('A question')],
    plan: {
      options: { model: 'm' },
      tools: [
        'clock',
        { type: 'function', name: 'own', parameters: { type: 'object', $comment: 'a.b', properties: { 'x.y': {} } } },
      ],
      limits: { maxIterations: 10, maxToolErrors: 3, maxParallelTools: 8, runTimeout: 3_600_000 },
      stream: false,
    },
    ...fields,
  };
}

export function toolCall(id: string, fields: Partial<ToolCall> = {}): ToolCall {
  // Callers pass the fields of one state.
  return {
    ...createToolCall({ id, call_id: id, name: 'clock', arguments: '{}', blocking: true, createdAt: 1_000 }),
    ...fields,
  } as ToolCall;
}
