/** Classifies the events of a provider's Responses stream, and fills in what Open Responses requires in them. */
import { isObject } from '../../../business/ai/domain/util/json';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import type { RawReasoningName } from '../../../business/ai/infrastructure/converters/stream/StreamEncoder';

export interface UpstreamEvent {
  readonly type: string;
  readonly event: JsonObject;
  /** The event as received. Absent if it was changed. */
  readonly data?: string | undefined;
}

const TERMINAL: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  'response.cancelled',
]);

export function isTerminal(type: string): boolean {
  return TERMINAL.has(type);
}

/** Some providers mark an error only by the frame's name, or only by the field `error`. */
export function isError(type: string, name: string | undefined, event: JsonObject): boolean {
  return type === 'error' || name === 'error' || (type === '' && event.error !== undefined);
}

/** Open Responses and OpenAI name raw reasoning events differently, and clients of one may reject the other's. */
export function relayedEventName(type: string, rawReasoningName: RawReasoningName): string {
  return type.replace(/^response\.reasoning(?:_text)?\.(delta|done)$/, `response.${rawReasoningName}.$1`);
}

/** @returns the same object if nothing is missing */
export function completeEvent(type: string, event: JsonObject): JsonObject {
  switch (type) {
    case 'response.output_text.delta':
    case 'response.output_text.done':
      return Array.isArray(event.logprobs) ? event : { ...event, logprobs: [] };
    case 'response.content_part.added':
    case 'response.content_part.done':
      return isObject(event.part) && event.part.type === 'output_text' ? withCompletePart(event, event.part) : event;
    case 'response.output_item.added':
      return withItemStatus(event, 'in_progress');
    case 'response.output_item.done':
      return withItemStatus(event, 'completed');
    default:
      return event;
  }
}

/** OpenAI omits the status of reasoning, which the items of all other vendors have. */
function withItemStatus(event: JsonObject, status: string): JsonObject {
  const { item } = event;
  return isObject(item) && item.type === 'reasoning' && item.status === undefined
    ? { ...event, item: { ...item, status } }
    : event;
}

function withCompletePart(event: JsonObject, part: JsonObject): JsonObject {
  return Array.isArray(part.annotations) && Array.isArray(part.logprobs)
    ? event
    : { ...event, part: { ...part, annotations: part.annotations ?? [], logprobs: part.logprobs ?? [] } };
}
