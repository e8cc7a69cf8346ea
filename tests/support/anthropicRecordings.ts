/** Recorded traffic of the Anthropic Messages wire, and the contexts to convert it in. */
import { hasRequest, recordingsOf } from './recordings';
import { contextOf, withResponseFields } from './wireContexts';
import type { ContextChanges } from './wireContexts';
import type {
  ResponseContext,
  SseMessage,
  WireContext,
} from '../../imports/business/ai/infrastructure/converters/Wire';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';

export const ANTHROPIC = recordingsOf('anthropic_messages').filter(hasRequest);

export function sse(...events: readonly JsonObject[]): readonly SseMessage[] {
  return events.map((event) => ({ event: String(event.type), data: JSON.stringify(event) }));
}

export function anthropicContext(changes: ContextChanges = {}): WireContext {
  return contextOf('anthropic', {
    ...changes,
    capabilities: { maxTokens: 200_000, maxOutputTokens: 64_000, ...changes.capabilities },
  });
}

export function anthropicResponseContext(changes: Partial<ResponseContext> = {}): ResponseContext {
  return withResponseFields(anthropicContext(), { requestId: 'req_1', ...changes });
}
