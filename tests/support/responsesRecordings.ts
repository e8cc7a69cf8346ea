/** The recorded traffic of the Responses wire, and the contexts in which it is converted. */
import { hasRequest, recordingsOf, sseMessages } from './recordings';
import { contextOf, withResponseFields } from './wireContexts';
import type { Recording } from './recordings';
import type { ResponseContext, WireContext } from '../../imports/business/ai/infrastructure/converters/Wire';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';

export const RESPONSES = recordingsOf('responses');
export const ANSWERS = RESPONSES.filter(({ status, stream }) => status === 200 && !stream);
export const STREAMS = RESPONSES.filter(({ status, stream }) => status === 200 && stream);
export const REQUESTS = RESPONSES.filter(hasRequest);

/** The response that a recorded stream ended with, as its event carries it. */
export function terminalResponse(recording: Recording): JsonObject {
  const last = sseMessages(recording.text)
    .map(({ data }) => JSON.parse(data) as { type: string; response?: JsonObject })
    .findLast(({ type }) => /^response\.(completed|incomplete|failed)$/.test(type));
  if (last?.response === undefined) throw new Error(`${recording.name} has no terminal event`);
  return last.response;
}

export function responsesContext(changes: Partial<WireContext> = {}): WireContext {
  return { ...contextOf('openai', { capabilities: { keepsState: true } }), ...changes };
}

export function responsesReply(changes: Partial<ResponseContext> = {}): ResponseContext {
  return withResponseFields(responsesContext(), changes);
}
