/**
 * Events of a Responses host's stream: which kind they are of, and what Open Responses demands in them that hosts
 * leave out.
 */
import { isObject } from '../../../business/ai/domain/json';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import type { RawReasoningName } from '../../../business/ai/infrastructure/converters/stream/StreamEncoder';

export interface UpstreamEvent {
  readonly type: string;
  readonly event: JsonObject;
  /** The event as its host wrote it; absent where something was changed in it. */
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

/** Some hosts say only in the frame's name, or only by the field, that it is one. */
export function isError(type: string, name: string | undefined, event: JsonObject): boolean {
  return type === 'error' || name === 'error' || (type === '' && event.error !== undefined);
}

/** Open Responses and OpenAI have a word each for raw reasoning, and either kind of client may refuse the other's. */
export function relayedEventName(type: string, rawReasoningName: RawReasoningName): string {
  return type.replace(/^response\.reasoning(?:_text)?\.(delta|done)$/, `response.${rawReasoningName}.$1`);
}

/** @returns the event itself where nothing is missing */
export function completeEvent(type: string, event: JsonObject): JsonObject {
  switch (type) {
    case 'response.output_text.delta':
    case 'response.output_text.done':
      return Array.isArray(event.logprobs) ? event : { ...event, logprobs: [] };
    case 'response.content_part.added':
    case 'response.content_part.done':
      return isObject(event.part) && event.part.type === 'output_text' ? withCompletePart(event, event.part) : event;
    default:
      return event;
  }
}

function withCompletePart(event: JsonObject, part: JsonObject): JsonObject {
  return Array.isArray(part.annotations) && Array.isArray(part.logprobs)
    ? event
    : { ...event, part: { ...part, annotations: part.annotations ?? [], logprobs: part.logprobs ?? [] } };
}
