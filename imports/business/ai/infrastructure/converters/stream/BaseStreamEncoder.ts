/** Base of all stream encoders: ends the stream exactly once and can hide tool calls from the client. */
import { LLMStreamError } from '../../../domain/errors/LLMErrors';
import type { LLMError } from '../../../domain/errors/LLMErrors';
import type { LLMResponse } from '../../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../domain/types/StreamEvents';
import { isCallItem } from './callItems';
import { NO_FRAMES } from './StreamEncoder';
import type { StreamEncoder, StreamEncoderOptions } from './StreamEncoder';

/** Events that carry content and neither complete nor fail the stream. */
export type ContentEvent = Exclude<
  ResponseStreamEvent,
  { readonly type: 'response.completed' | 'response.failed' | 'wire.message' }
>;

export abstract class BaseStreamEncoder implements StreamEncoder {
  protected readonly options: StreamEncoderOptions;
  private readonly toolCallFilter: ToolCallFilter | undefined;
  private state: 'open' | 'completed' | 'ended' = 'open';

  constructor(options: StreamEncoderOptions) {
    this.options = options;
    this.toolCallFilter = options.relayToolUseEvents === false ? new ToolCallFilter() : undefined;
  }

  push(event: ResponseStreamEvent): readonly string[] {
    if (this.state !== 'open') return NO_FRAMES;
    const visible = this.toolCallFilter === undefined ? event : this.toolCallFilter.apply(event);
    if (visible === undefined) return NO_FRAMES;
    switch (visible.type) {
      case 'response.completed':
        this.state = 'completed';
        return this.complete(visible.response);
      case 'response.failed':
        return this.fail(visible.error);
      case 'wire.message':
        return NO_FRAMES;
      default:
        return this.encode(visible);
    }
  }

  end(): readonly string[] {
    if (this.state === 'ended') return NO_FRAMES;
    if (this.state === 'open')
      return this.fail(new LLMStreamError('The stream ended before the response was complete.'));
    this.state = 'ended';
    return this.endMarker();
  }

  fail(error: LLMError): readonly string[] {
    if (this.state !== 'open') return NO_FRAMES;
    this.state = 'ended';
    return this.encodeError(error);
  }

  protected abstract encode(event: ContentEvent): readonly string[];
  /** All frames that the completed response adds, except the end marker. */
  protected abstract complete(response: LLMResponse): readonly string[];
  /** The wire's end marker, if it has one. */
  protected abstract endMarker(): readonly string[];
  /** The error, and whatever the wire requires after an error. */
  protected abstract encodeError(error: LLMError): readonly string[];
}

/** Removes tool calls, and every event about one but its announcement, from a stream whose calls are run elsewhere. */
class ToolCallFilter {
  private readonly callIndexes = new Set<number>();

  /** @returns the event without its calls; `undefined` if it was about nothing else */
  apply(event: ResponseStreamEvent): ResponseStreamEvent | undefined {
    switch (event.type) {
      case 'response.tool_use.done':
        return undefined;
      case 'response.output_item.added':
      case 'response.output_item.done':
        if (!isCallItem(event.item)) return event;
        this.callIndexes.add(event.output_index);
        return undefined;
      case 'vendor.event':
        return typeof event.raw.output_index === 'number' && this.callIndexes.has(event.raw.output_index)
          ? undefined
          : event;
      case 'response.completed':
        return { ...event, response: withoutCalls(event.response) };
      default:
        return event;
    }
  }
}

/** The vendor's finish reason refers to the calls (`tool_calls`), so it is removed along with them. */
function withoutCalls(response: LLMResponse): LLMResponse {
  const output = response.output.filter((item) => !isCallItem(item));
  return output.length === response.output.length
    ? response
    : { ...response, output, vendor: { ...response.vendor, finish_reason: null } };
}
