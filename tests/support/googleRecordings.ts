/** Recorded traffic of the Gemini wire (Gemini API and Vertex AI), and the contexts to convert it in. */
import { recordingsOf, sseMessages } from './recordings';
import { contextOf, withResponseFields } from './wireContexts';
import type { Recording } from './recordings';
import type { ContextChanges } from './wireContexts';
import type {
  ResponseContext,
  StreamDecoder,
  WireContext,
} from '../../imports/business/ai/infrastructure/converters/Wire';
import type { ResponseStreamEvent } from '../../imports/business/ai/domain/types/StreamEvents';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';

export const GOOGLE = recordingsOf('gemini');

export function recording(name: string): Recording {
  const found = GOOGLE.find((one) => one.name === name);
  if (found === undefined) throw new Error(`Unknown recording "${name}".`);
  return found;
}

export function bodyOf(one: Recording): JsonObject {
  return JSON.parse(one.text) as JsonObject;
}

export function chunksOf(one: Recording): readonly JsonObject[] {
  return sseMessages(one.text).map(({ data }) => JSON.parse(data) as JsonObject);
}

/** All events of a decoder for a complete stream. */
export function decodeChunks(decoder: StreamDecoder, chunks: readonly JsonObject[]): readonly ResponseStreamEvent[] {
  const out: ResponseStreamEvent[] = [];
  for (const chunk of chunks) decoder.push({ data: JSON.stringify(chunk) }, out);
  decoder.end(out);
  return out;
}

export function googleContext(changes: ContextChanges = {}): WireContext {
  return contextOf('google', changes);
}

export function googleResponseContext(changes: Partial<ResponseContext> = {}): ResponseContext {
  return withResponseFields(googleContext(), { requestId: 'req_1', ...changes });
}
