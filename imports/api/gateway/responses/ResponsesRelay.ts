/**
 * A Responses stream whose host speaks the Responses API itself: its events go on as they came, unknown ones and
 * unknown fields too. They are numbered here, and what Open Responses demands and the host left out is filled in.
 * When another provider answers instead, over another wire, the stream is encoded like any other.
 */
import { LLMStreamError } from '../../../business/ai/domain/errors/LLMErrors';
import type { LLMError } from '../../../business/ai/domain/errors/LLMErrors';
import { isObject } from '../../../business/ai/domain/json';
import type { LLMResponse } from '../../../business/ai/domain/types/ResponsesAPITypes';
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
import { completeEvent, isError, isTerminal, relayedEventName } from './upstreamEvents';
import type { UpstreamEvent } from './upstreamEvents';
import { OutputItemQueue } from './OutputItemQueue';
import { conformingFields } from './responseResource';

export interface ResponsesRelayOptions {
  /** For what came over another wire. */
  readonly encoder: StreamEncoder;
  readonly rawReasoningName: RawReasoningName;
  readonly echo: JsonObject;
  /** The response while its host has said nothing of it. */
  readonly initial: JsonObject;
  /** What is true of it here, whatever its host says. */
  readonly overrides: JsonObject;
  /** Looks at an item before it is told. May throw what is wrong with it. */
  readonly checkItem: (item: unknown) => void;
}

type Stage = 'nothing' | 'created' | 'in progress' | 'completed' | 'ended';

export class ResponsesRelay implements StreamEncoder {
  private readonly options: ResponsesRelayOptions;
  private readonly frames = new SequencedFrames();
  private readonly items = new OutputItemQueue();
  private isRelaying = false;
  private stage: Stage = 'nothing';
  /** The response as it was last told. */
  private response: JsonObject;
  private terminal: JsonObject | undefined;

  constructor(options: ResponsesRelayOptions) {
    this.options = options;
    this.response = options.initial;
  }

  push(event: ResponseStreamEvent): readonly string[] {
    if (event.type === 'wire.message' && event.wire === 'responses') {
      this.isRelaying = true;
      return this.terminal === undefined && event.data !== '[DONE]' ? this.relay(event.data, event.event) : NO_FRAMES;
    }
    if (!this.isRelaying) return this.options.encoder.push(event);
    return event.type === 'response.completed' ? this.complete(event.response) : NO_FRAMES;
  }

  end(): readonly string[] {
    if (!this.isRelaying) return this.options.encoder.end();
    if (this.stage === 'ended') return NO_FRAMES;
    if (this.stage !== 'completed') return this.fail(new LLMStreamError('The stream ended before the answer did.'));
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
    const said = typeof event.type === 'string' ? event.type : (name ?? '');
    // An error is told by what it means alone.
    if (isError(said, name, event)) return NO_FRAMES;
    if (isTerminal(said)) {
      // The whole response is remembered before it is told.
      this.terminal = event;
      return NO_FRAMES;
    }
    if (isObject(event.response)) return this.relayResponse(said, event, event.response);
    const type = relayedEventName(said, this.options.rawReasoningName);
    if (type === 'response.output_item.added' || type === 'response.output_item.done')
      this.options.checkItem(event.item);
    const completed = completeEvent(type, event);
    const begun = STARTS_OUTPUT.test(type) ? this.ensureInProgress() : this.ensureCreated();
    return [
      ...begun,
      ...this.items
        .push({ type, event: completed, data: completed === event ? data : undefined })
        .map((each) => this.frameOf(each)),
    ];
  }

  private relayResponse(type: string, event: JsonObject, said: JsonObject): readonly string[] {
    const { initial, echo, overrides } = this.options;
    this.response = { ...initial, ...conformingFields(said, echo), ...overrides };
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

  /** For hosts that begin with an item. */
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

/** Before these the response must be in progress; events that are new to us may come at any time. */
const STARTS_OUTPUT = /^response\.output_item\.|\.delta$/;

const DONE: readonly string[] = ['data: [DONE]\n\n'];
