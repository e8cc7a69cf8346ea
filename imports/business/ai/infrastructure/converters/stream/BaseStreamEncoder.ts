/** What all encoders do: end exactly once, keep calls away where they are hidden. */
import { LLMStreamError } from '../../../domain/errors/LLMErrors';
import type { LLMError } from '../../../domain/errors/LLMErrors';
import type { LLMResponse } from '../../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../domain/types/StreamEvents';
import { ToolCallFilter } from '../../streaming/HiddenCalls';
import { NO_FRAMES } from './StreamEncoder';
import type { StreamEncoderOptions, StreamEncoder } from './StreamEncoder';

/** Events that say something, and neither end the stream nor fail it. */
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
    if (this.state === 'open') return this.fail(new LLMStreamError('The stream ended before the answer did.'));
    this.state = 'ended';
    return this.endMarker();
  }

  fail(error: LLMError): readonly string[] {
    if (this.state !== 'open') return NO_FRAMES;
    this.state = 'ended';
    return this.encodeError(error);
  }

  protected abstract encode(event: ContentEvent): readonly string[];
  /** Everything that the whole response adds, up to the last frame but the end marker. */
  protected abstract complete(response: LLMResponse): readonly string[];
  /** The wire's end marker, where it has one. */
  protected abstract endMarker(): readonly string[];
  protected abstract encodeError(error: LLMError): readonly string[];
}
