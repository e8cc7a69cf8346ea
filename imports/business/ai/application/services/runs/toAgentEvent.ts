/** A move of a tool call, as those are told who watch the run. */
import type { ToolCall, ToolEvent } from '../../../domain/entities/Tool';
import type { AgentEventBody } from '../../../domain/types/AgentEvents';
import { argumentsHash } from '../shared/canonicalJson';

/**
 * @param call after the move
 * @returns undefined for a move that is nobody's business
 */
export function toAgentEvent(call: ToolCall, event: ToolEvent): AgentEventBody | undefined {
  const named = { callId: call.id, name: call.name };
  const executionTime = 'executionTime' in call ? call.executionTime : 0;
  switch (event.type) {
    case 'tool:delivered':
      return undefined;
    case 'tool:approval_required':
      return { type: event.type, ...named, arguments: call.arguments, argumentsHash: argumentsHash(call.arguments) };
    case 'tool:executing':
    case 'tool:needs_review':
      return { type: event.type, ...named };
    case 'tool:progress':
      return {
        type: event.type,
        ...named,
        fraction: event.fraction,
        ...(event.note === undefined ? {} : { note: event.note }),
      };
    case 'tool:completed':
      return { type: event.type, ...named, result: event.result, executionTime };
    case 'tool:failed':
    case 'tool:timeout':
      return { type: event.type, ...named, error: event.error, executionTime };
    case 'tool:cancelled':
      return { type: event.type, ...named, error: event.error };
    case 'tool:late':
      return { type: event.type, ...named, result: event.result };
  }
}
