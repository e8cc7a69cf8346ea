/** The recorded traffic of the Responses wire, and contexts to convert it with. */
import { hasRequest, recordingsOf, sseMessages } from './recordings';
import { contextOf, withResponseFields } from './wireContexts';
import type { Recording } from './recordings';
import type { ResponseContext, WireContext } from '../../imports/business/ai/infrastructure/converters/Wire';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';

export const EXCHANGES = recordingsOf('responses');
export const RESPONSES = EXCHANGES.filter(({ status, stream }) => status === 200 && !stream);
export const STREAMS = EXCHANGES.filter(({ status, stream }) => status === 200 && stream);
export const REQUESTS = EXCHANGES.filter(hasRequest);

/** The response of the terminal event of a recorded stream. */
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

export function responsesResponseContext(changes: Partial<ResponseContext> = {}): ResponseContext {
  return withResponseFields(responsesContext(), changes);
}
