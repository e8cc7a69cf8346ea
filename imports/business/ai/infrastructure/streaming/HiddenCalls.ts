/** A stream as a client sees it whose calls are run elsewhere: no call, and nothing that speaks of one. */
import { isCallItem } from '../converters/stream/callItems';
import type { LLMResponse } from '../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../domain/types/StreamEvents';

export class ToolCallFilter {
  private readonly places = new Set<number>();

  /** The event without its calls, or `undefined` for one that is about nothing else. */
  apply(event: ResponseStreamEvent): ResponseStreamEvent | undefined {
    switch (event.type) {
      case 'response.tool_use.announced':
      case 'response.tool_use.done':
        return undefined;
      case 'response.output_item.added':
      case 'response.output_item.done':
        if (!isCallItem(event.item)) return event;
        this.places.add(event.output_index);
        return undefined;
      case 'vendor.event':
        return typeof event.raw.output_index === 'number' && this.places.has(event.raw.output_index)
          ? undefined
          : event;
      case 'response.completed':
        return { ...event, response: withoutCalls(event.response) };
      default:
        return event;
    }
  }
}

/** The vendor's own finish word speaks of the calls, so it goes with them. */
function withoutCalls(response: LLMResponse): LLMResponse {
  const output = response.output.filter((item) => !isCallItem(item));
  return output.length === response.output.length
    ? response
    : { ...response, output, vendor: { ...response.vendor, finish_reason: null } };
}
