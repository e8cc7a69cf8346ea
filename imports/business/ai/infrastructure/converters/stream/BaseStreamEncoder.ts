/** What all encoders do: end exactly once, keep calls away where they are hidden. */
import { LLMStreamError } from '../../../domain/errors/LLMErrors';
import type { LLMError } from '../../../domain/errors/LLMErrors';
import type { LLMResponse } from '../../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../domain/types/StreamEvents';
import { ToolCallFilter } from '../../streaming/HiddenCalls';
import { NO_FRAMES } from './StreamEncoder';
import type { EncoderFacts, StreamEncoder } from './StreamEncoder';

/** Events that say something, and neither end the stream nor fail it. */
export type OpenEvent = Exclude<
  ResponseStreamEvent,
  { readonly type: 'response.completed' | 'response.failed' | 'wire.message' }
>;

export abstract class BaseStreamEncoder implements StreamEncoder {
  protected readonly facts: EncoderFacts;
  private readonly hidden: ToolCallFilter | undefined;
  private state: 'open' | 'completed' | 'ended' = 'open';

  constructor(facts: EncoderFacts) {
    this.facts = facts;
    this.hidden = facts.relayToolUseEvents === false ? new ToolCallFilter() : undefined;
  }

  push(event: ResponseStreamEvent): readonly string[] {
    if (this.state !== 'open') return NO_FRAMES;
    const shown = this.hidden === undefined ? event : this.hidden.apply(event);
    if (shown === undefined) return NO_FRAMES;
    switch (shown.type) {
      case 'response.completed':
        this.state = 'completed';
        return this.complete(shown.response);
      case 'response.failed':
        return this.fail(shown.error);
      case 'wire.message':
        return NO_FRAMES;
      default:
        return this.encode(shown);
    }
  }

  end(): readonly string[] {
    if (this.state === 'ended') return NO_FRAMES;
    if (this.state === 'open') return this.fail(new LLMStreamError('The stream ended before the answer did.'));
    this.state = 'ended';
    return this.terminate();
  }

  fail(error: LLMError): readonly string[] {
    if (this.state !== 'open') return NO_FRAMES;
    this.state = 'ended';
    return this.break(error);
  }

  protected abstract encode(event: OpenEvent): readonly string[];
  /** Everything that the whole response adds, up to the last frame but the end marker. */
  protected abstract complete(response: LLMResponse): readonly string[];
  /** The wire's end marker, where it has one. */
  protected abstract terminate(): readonly string[];
  protected abstract break(error: LLMError): readonly string[];
}
