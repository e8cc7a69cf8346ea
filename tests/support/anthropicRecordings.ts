/** The recorded traffic of the Anthropic Messages wire, and the contexts in which it is converted. */
import { isAsked, recordingsOf } from './recordings';
import { contextOf, replyIn } from './wireContexts';
import type { ContextChanges } from './wireContexts';
import type {
  ResponseContext,
  SseMessage,
  WireContext,
} from '../../imports/business/ai/infrastructure/converters/Wire';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';

export const ANTHROPIC = recordingsOf('anthropic_messages').filter(isAsked);

export function sse(...events: readonly JsonObject[]): readonly SseMessage[] {
  return events.map((event) => ({ event: String(event.type), data: JSON.stringify(event) }));
}

export function anthropicContext(changes: ContextChanges = {}): WireContext {
  return contextOf('anthropic', {
    ...changes,
    capabilities: { maxTokens: 200_000, maxOutputTokens: 64_000, ...changes.capabilities },
  });
}

export function anthropicReply(changes: Partial<ResponseContext> = {}): ResponseContext {
  return replyIn(anthropicContext(), { requestId: 'req_1', ...changes });
}
