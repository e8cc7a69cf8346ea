/**
 * Domain events as the event stream of the Responses API, by the grammar of Open Responses
 * (https://www.openresponses.org, release 2026-04-24): items one after another, every response whole, deltas and
 * closed texts equal, `[DONE]` last, whether it went well or not.
 */
import type { LLMError } from '../../../../domain/errors/LLMErrors';
import type { LLMResponse } from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';
import { ASSUMED, writeResponses } from '../gateway/ResponsesGateway';
import { BaseStreamEncoder } from '../../stream/BaseStreamEncoder';
import type { OpenEvent } from '../../stream/BaseStreamEncoder';
import { OutputItemFrames } from './OutputItemFrames';
import type { TextEvent } from './OutputItemFrames';
import { EVENT_OF_STATUS, hostedBody, responsesFailure } from './responsesEnding';
import type { PartKind } from './responsesParts';
import { SequencedFrames } from './SequencedFrames';
import { NO_FRAMES } from '../../stream/StreamEncoder';
import type { EncoderFacts } from '../../stream/StreamEncoder';

const DONE: readonly string[] = ['data: [DONE]\n\n'];

export class ResponsesEncoder extends BaseStreamEncoder {
  private readonly frames = new SequencedFrames();
  private id: string;
  private model: string;
  private begun = false;
  private readonly items: OutputItemFrames;

  constructor(facts: EncoderFacts) {
    super(facts);
    this.id = facts.id;
    this.model = facts.model;
    this.items = new OutputItemFrames(this.frames, facts, () => this.id);
  }

  protected encode(event: OpenEvent): readonly string[] {
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
        return this.begin();
      case 'response.output_item.added':
        return [...this.begin(), ...this.items.add(event.output_index, event.item)];
      case 'response.output_item.done':
        return [...this.begin(), ...this.items.finish(event.output_index, event.item)];
      case 'response.annotation.added':
        // Told when the part closes: only then is it known which text is meant.
        this.items.annotate(event.output_index, event.content_index ?? 0, event.annotation);
        return NO_FRAMES;
      case 'response.tool_use.done':
        return [...this.begin(), ...this.items.whole(event.item)];
      case 'vendor.event':
        return event.origin.wire === 'responses' ? [...this.begin(), ...this.vendorEvent(event.raw)] : NO_FRAMES;
      // The item that the call began with has told it.
      case 'response.tool_use.announced':
      case 'response.usage':
        return NO_FRAMES;
    }
  }

  protected complete(response: LLMResponse): readonly string[] {
    const frames = [...this.begin(), ...this.items.end()];
    const body =
      response.vendor.wire === 'responses' ? hostedBody(response, this.facts.echo) : this.foreignBody(response);
    const type = EVENT_OF_STATUS[String(body.status)] ?? 'response.incomplete';
    return [...frames, this.frames.frame(type, { response: body })];
  }

  protected terminate(): readonly string[] {
    return DONE;
  }

  protected break(error: LLMError): readonly string[] {
    return [
      ...this.begin(),
      ...responsesFailure(this.frames, error, { ...this.facts, begun: this.snapshot(), output: this.items.output }),
      ...DONE,
    ];
  }

  private delta(kind: PartKind, event: TextEvent): readonly string[] {
    return this.begun ? this.items.delta(kind, event) : [...this.begin(), ...this.items.delta(kind, event)];
  }

  private begin(): readonly string[] {
    if (this.begun) return NO_FRAMES;
    this.begun = true;
    const response = this.snapshot();
    return [
      this.frames.frame('response.created', { response }),
      this.frames.frame('response.in_progress', { response }),
    ];
  }

  /** The response while nothing of it is known but its name. */
  private snapshot(): JsonObject {
    const { echo, created } = this.facts;
    return {
      ...ASSUMED,
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
    const { created } = this.facts;
    const body = writeResponses({ ...response, output: [] }, this.facts.echo);
    const completed_at = body.completed_at === null ? null : Math.max(created, response.created_at);
    return { ...body, created_at: created, completed_at, output: this.items.output };
  }

  /** Pieces of a custom call's input stay behind, as those of arguments do. */
  private vendorEvent(raw: JsonObject): readonly string[] {
    const type = String(raw.type);
    if (type.startsWith('response.custom_tool_call_input.')) return NO_FRAMES;
    const index = typeof raw.output_index === 'number' ? this.items.placeOf(raw.output_index) : undefined;
    return [this.frames.frame(type, index === undefined ? raw : { ...raw, output_index: index })];
  }
}
