/**
 * Encodes domain events as the event stream of the Responses API, by the grammar of Open Responses
 * (https://www.openresponses.org, release 2026-04-24): items one after another, every response with all its fields,
 * closed texts equal to their deltas, and `[DONE]` last, even after an error.
 */
import { LLMAbortedError } from '../../../../domain/errors/LLMErrors';
import type { LLMError } from '../../../../domain/errors/LLMErrors';
import type { LLMResponse } from '../../../../domain/types/ResponsesAPITypes';
import type { TextDelta } from '../../../../domain/types/StreamEvents';
import type { JsonObject } from '../../../../domain/types/VendorTypes';
import { DEFAULT_FIELDS, writeResponses } from '../gateway/ResponsesGateway';
import { BaseStreamEncoder } from '../../stream/BaseStreamEncoder';
import type { ContentEvent } from '../../stream/BaseStreamEncoder';
import { OutputItemFrames } from './OutputItemFrames';
import { EVENT_OF_STATUS, passthroughBody, responsesFailure } from './responsesEnding';
import type { PartKind } from './responsesParts';
import { SequencedFrames } from './SequencedFrames';
import { NO_FRAMES } from '../../stream/StreamEncoder';
import type { StreamEncoderOptions } from '../../stream/StreamEncoder';

const DONE: readonly string[] = ['data: [DONE]\n\n'];

export class ResponsesEncoder extends BaseStreamEncoder {
  private readonly frames = new SequencedFrames();
  private id: string;
  private model: string;
  private hasStarted = false;
  private readonly items: OutputItemFrames;

  constructor(options: StreamEncoderOptions) {
    super(options);
    this.id = options.id;
    this.model = options.model;
    this.items = new OutputItemFrames(this.frames, options, () => this.id);
  }

  protected encode(event: ContentEvent): readonly string[] {
    switch (event.type) {
      case 'response.output_text.delta':
        return this.delta('output_text', event);
      case 'response.refusal.delta':
        return this.delta('refusal', event);
      case 'response.reasoning.delta':
        return this.delta(event.summary ? 'summary_text' : 'reasoning_text', event);
      case 'response.created':
        if (event.id !== '') this.id = event.id;
        this.model = event.model;
        return this.start();
      case 'response.output_item.added':
        return [...this.start(), ...this.items.start(event.output_index, event.item)];
      case 'response.output_item.done':
        return [...this.start(), ...this.items.finish(event.output_index, event.item)];
      case 'response.annotation.added':
        // Written when the part closes: only then is the annotated text known.
        this.items.annotate(event.output_index, event.content_index ?? 0, event.annotation);
        return NO_FRAMES;
      case 'response.tool_use.done':
        return [...this.start(), ...this.items.addComplete(event.item)];
      case 'vendor.event':
        return event.origin.wire === 'responses' ? [...this.start(), ...this.vendorEvent(event.raw)] : NO_FRAMES;
      case 'response.tool_use.announced':
        return this.isAnnouncedWithoutItem ? [...this.start(), this.announcement(event)] : NO_FRAMES;
      case 'response.tool_use.delta':
      case 'response.usage':
        return NO_FRAMES;
    }
  }

  protected complete(response: LLMResponse): readonly string[] {
    const frames = [...this.start(), ...this.items.end()];
    const body =
      response.vendor.wire === 'responses' ? passthroughBody(response, this.options.echo) : this.foreignBody(response);
    const type = EVENT_OF_STATUS[String(body.status)] ?? 'response.incomplete';
    return [...frames, this.frames.frame(type, { response: body })];
  }

  protected endMarker(): readonly string[] {
    return DONE;
  }

  protected encodeError(error: LLMError): readonly string[] {
    if (this.options.echo?.background === true && error instanceof LLMAbortedError) return this.encodeCancellation();
    return [
      ...this.start(),
      ...responsesFailure(this.frames, error, {
        ...this.options,
        snapshot: this.snapshot(),
        output: this.items.output,
      }),
      ...DONE,
    ];
  }

  /** A background response ends without an error if its client cancels it. No event is specified for that alone. */
  private encodeCancellation(): readonly string[] {
    const frames = [...this.start(), ...this.items.end('incomplete')];
    const response = { ...this.snapshot(), status: 'cancelled', output: this.items.output };
    return [...frames, this.frames.frame('response.incomplete', { response }), ...DONE];
  }

  /** Otherwise the added item announces the call. */
  private get isAnnouncedWithoutItem(): boolean {
    return this.options.emitFunctionAnnouncements === true && this.options.relayToolUseEvents === false;
  }

  /** Open Responses reserves names with the implementor's prefix for extensions, which clients ignore. */
  private announcement({ call_id, name }: { readonly call_id: string; readonly name: string }): string {
    return this.frames.frame('bolide:tool_use_announced', { call_id, name });
  }

  private delta(kind: PartKind, event: TextDelta): readonly string[] {
    return this.hasStarted ? this.items.delta(kind, event) : [...this.start(), ...this.items.delta(kind, event)];
  }

  private start(): readonly string[] {
    if (this.hasStarted) return NO_FRAMES;
    this.hasStarted = true;
    const response = this.snapshot();
    return [
      this.frames.frame('response.created', { response }),
      this.frames.frame('response.in_progress', { response }),
    ];
  }

  /** The response in progress, before any of its output is known. */
  private snapshot(): JsonObject {
    const { echo, created } = this.options;
    return {
      ...DEFAULT_FIELDS,
      usage: null,
      completed_at: null,
      ...echo,
      id: this.id,
      object: 'response',
      created_at: created,
      status: 'in_progress',
      model: this.model,
      output: [],
    };
  }

  private foreignBody(response: LLMResponse): JsonObject {
    const { created } = this.options;
    const body = writeResponses({ ...response, output: [] }, this.options.echo);
    const completed_at = body.completed_at === null ? null : Math.max(created, response.created_at);
    return { ...body, created_at: created, completed_at, output: this.items.output };
  }

  /** Drops deltas of a custom call's input: like arguments, the input is sent in one piece. */
  private vendorEvent(raw: JsonObject): readonly string[] {
    const type = String(raw.type);
    if (type.startsWith('response.custom_tool_call_input.')) return NO_FRAMES;
    const index = typeof raw.output_index === 'number' ? this.items.outputIndexOf(raw.output_index) : undefined;
    return [this.frames.frame(type, index === undefined ? raw : { ...raw, output_index: index })];
  }
}
