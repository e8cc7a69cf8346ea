/** Converts an event of a tool call into the event that the run publishes. */
import type { ToolCall, ToolEvent } from '../../../domain/entities/Tool';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { AgentEventBody } from '../../../domain/types/AgentEvents';
import { argumentsHash } from '../shared/argumentsHash';

/**
 * @param call after the event
 * @returns undefined for events that are not published
 */
export function toAgentEvent(call: ToolCall, event: ToolEvent): AgentEventBody | undefined {
  const reference = { callId: call.id, name: call.name };
  const executionTime = 'executionTime' in call ? call.executionTime : 0;
  switch (event.type) {
    case 'tool:decided':
    case 'tool:delivered':
    case 'tool:awaiting_result':
    case 'tool:interrupted':
    case 'tool:checkpoint':
    case 'tool:detached':
      return undefined;
    case 'tool:approval_required':
      return {
        type: event.type,
        ...reference,
        arguments: call.arguments,
        argumentsHash: argumentsHash(call.arguments),
        ...expiryOf(event),
      };
    case 'tool:needs_review':
      return {
        type: event.type,
        ...reference,
        startTime: 'startTime' in call ? (call.startTime ?? event.at) : event.at,
        ...expiryOf(event),
      };
    case 'tool:executing':
      return { type: event.type, ...reference, ...expiryOf(event) };
    case 'tool:input_required':
      return { type: event.type, ...reference, input: event.input, expiresAt: event.expiresAt };
    case 'tool:input_received':
      return omitUndefined({ type: event.type, ...reference, answer: event.answer });
    case 'tool:progress':
      return omitUndefined({ type: event.type, ...reference, fraction: event.fraction, note: event.note });
    case 'tool:completed':
      return { type: event.type, ...reference, result: event.result, executionTime };
    case 'tool:failed':
    case 'tool:timeout':
      return { type: event.type, ...reference, error: event.error, executionTime };
    case 'tool:cancelled':
      return { type: event.type, ...reference, error: event.error };
    case 'tool:late':
      return { type: event.type, ...reference, result: event.result };
  }
}

function expiryOf({ expiresAt }: { readonly expiresAt?: number }): { readonly expiresAt?: number } {
  return expiresAt === undefined ? {} : { expiresAt };
}
