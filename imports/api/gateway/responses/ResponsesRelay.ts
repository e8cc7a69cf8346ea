/**
 * Relays the stream of a provider that speaks the Responses API: forwards events unchanged, including unknown events
 * and fields, numbers them, and fills in what Open Responses requires and the provider omits. If a fallback responds
 * over another wire, its stream is encoded as usual.
 */
import { LLMStreamError } from '../../../business/ai/domain/errors/LLMErrors';
import type { LLMError } from '../../../business/ai/domain/errors/LLMErrors';
import { isObject } from '../../../business/ai/domain/util/json';
import type { LLMResponse } from '../../../business/ai/domain/types/ResponsesAPITypes';
import type { MessageRun } from '../../../business/ai/domain/types/RelayTarget';
import type { ResponseStreamEvent } from '../../../business/ai/domain/types/StreamEvents';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import {
  EVENT_OF_STATUS,
  passthroughBody,
  responsesFailure,
} from '../../../business/ai/infrastructure/converters/responses/stream/responsesEnding';
import { SequencedFrames } from '../../../business/ai/infrastructure/converters/responses/stream/SequencedFrames';
import { NO_FRAMES } from '../../../business/ai/infrastructure/converters/stream/StreamEncoder';
import type {
  RawReasoningName,
  StreamEncoder,
} from '../../../business/ai/infrastructure/converters/stream/StreamEncoder';
import type { PassingEncoder } from '../../http/ByteRelay';
import { completeEvent, isError, isTerminal, relayedEventName } from './upstreamEvents';
import type { UpstreamEvent } from './upstreamEvents';
import { OutputItemQueue } from './OutputItemQueue';
import { conformingFields } from './responseResource';

export interface ResponsesRelayOptions {
  /** Encodes streams of other wires. */
  readonly encoder: StreamEncoder;
  readonly rawReasoningName: RawReasoningName;
  readonly echo: JsonObject;
  /** The response before the provider has sent anything of it. */
  readonly initial: JsonObject;
  /** Fields that replace the provider's. */
  readonly overrides: JsonObject;
  /** Checks an item before it is emitted. May throw to reject it. */
  readonly checkItem: (item: unknown) => void;
}

type Stage = 'nothing' | 'created' | 'in progress' | 'completed' | 'ended';

export class ResponsesRelay implements StreamEncoder, PassingEncoder {
  passes = false;
  private readonly options: ResponsesRelayOptions;
  private readonly frames = new SequencedFrames();
  private readonly items = new OutputItemQueue();
  private isRelaying = false;
  private stage: Stage = 'nothing';
  /** The response as last emitted. */
  private response: JsonObject;
  private terminal: JsonObject | undefined;

  constructor(options: ResponsesRelayOptions) {
    this.options = options;
    this.response = options.initial;
  }

  push(event: ResponseStreamEvent): readonly string[] {
    if (event.type === 'wire.message' && event.wire === 'responses') {
      this.isRelaying = true;
      this.passes = false;
      if (this.terminal !== undefined || event.data === '[DONE]') return NO_FRAMES;
      const frames = this.relay(event.data, event.event);
      this.passes = frames.length === 1 && frames[0] === `event: ${event.event ?? ''}\ndata: ${event.data}\n\n`;
      return frames;
    }
    if (!this.isRelaying) return this.options.encoder.push(event);
    return event.type === 'response.completed' ? this.complete(event.response) : NO_FRAMES;
  }

  /** They are numbered from the last one on, as are the frames that follow them. */
  pass({ bytes, count }: MessageRun): Uint8Array {
    this.frames.skip(count);
    return bytes;
  }

  end(): readonly string[] {
    if (!this.isRelaying) return this.options.encoder.end();
    if (this.stage === 'ended') return NO_FRAMES;
    if (this.stage !== 'completed')
      return this.fail(new LLMStreamError('The stream ended before the response was complete.'));
    this.stage = 'ended';
    return DONE;
  }

  fail(error: LLMError): readonly string[] {
    if (!this.isRelaying) return this.options.encoder.fail(error);
    if (this.stage === 'completed' || this.stage === 'ended') return NO_FRAMES;
    const frames = this.ensureInProgress();
    this.stage = 'ended';
    return [
      ...frames,
      ...responsesFailure(this.frames, error, {
        echo: this.options.echo,
        snapshot: this.response,
        output: this.items.closedItems,
        upstreamError: error.vendorBody,
      }),
      ...DONE,
    ];
  }

  /** The decoder has read the message already: it is a JSON object. */
  private relay(data: string, name: string | undefined): readonly string[] {
    const event = JSON.parse(data) as JsonObject;
    const upstreamType = typeof event.type === 'string' ? event.type : (name ?? '');
    // Errors are emitted by `fail`, after they have been classified.
    if (isError(upstreamType, name, event)) return NO_FRAMES;
    if (isTerminal(upstreamType)) {
      // Emitted by `complete`, after the response has been saved.
      this.terminal = event;
      return NO_FRAMES;
    }
    if (isObject(event.response)) return this.relayResponse(upstreamType, event, event.response);
    const type = relayedEventName(upstreamType, this.options.rawReasoningName);
    if (type === 'response.output_item.added' || type === 'response.output_item.done')
      this.options.checkItem(event.item);
    const completed = completeEvent(type, event);
    const opening = STARTS_OUTPUT.test(type) ? this.ensureInProgress() : this.ensureCreated();
    return [
      ...opening,
      ...this.items
        .push({ type, event: completed, data: completed === event ? data : undefined })
        .map((each) => this.frameOf(each)),
    ];
  }

  private relayResponse(type: string, event: JsonObject, fields: JsonObject): readonly string[] {
    const { initial, echo, overrides } = this.options;
    this.response = { ...initial, ...conformingFields(fields, echo), ...overrides };
    const isFirst = type === 'response.created';
    const frames = isFirst ? NO_FRAMES : this.ensureCreated();
    this.stage = isFirst ? 'created' : 'in progress';
    return [...frames, this.frames.frame(type, { ...event, response: this.response })];
  }

  private complete(response: LLMResponse): readonly string[] {
    const body = passthroughBody(response, this.options.echo);
    const output = Array.isArray(body.output) ? body.output.filter(isObject) : [];
    const frames = [...this.ensureInProgress(), ...this.items.flush(output).map((each) => this.frameOf(each))];
    this.stage = 'completed';
    return [
      ...frames,
      this.frames.frame(EVENT_OF_STATUS[String(body.status)] ?? 'response.incomplete', {
        ...this.terminal,
        response: body,
      }),
    ];
  }

  private ensureCreated(): readonly string[] {
    if (this.stage !== 'nothing') return NO_FRAMES;
    this.stage = 'created';
    return [this.frames.frame('response.created', { response: this.response })];
  }

  /** For providers whose stream starts with an item. */
  private ensureInProgress(): readonly string[] {
    if (this.stage !== 'nothing' && this.stage !== 'created') return NO_FRAMES;
    const frames = [...this.ensureCreated(), this.frames.frame('response.in_progress', { response: this.response })];
    this.stage = 'in progress';
    return frames;
  }

  private frameOf({ type, event, data }: UpstreamEvent): string {
    return data === undefined ? this.frames.frame(type, event) : this.frames.relay(type, event, data);
  }
}

/** Events before which the response must be in progress. Unknown events may come at any time. */
const STARTS_OUTPUT = /^response\.output_item\.|\.delta$/;

const DONE: readonly string[] = ['data: [DONE]\n\n'];
