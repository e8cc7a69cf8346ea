/**
 * The event stream of the Responses wire as domain events, one object per event and nothing held back but
 * unfinished arguments. https://platform.openai.com/docs/api-reference/responses-streaming
 */
import { fromResponses, readResponse } from '../ResponsesConverter';
import { readItem } from '../items';
import { LLMStreamError } from '../../../../domain/errors/LLMErrors';
import { vendorError } from '../../../../domain/errors/vendorErrors';
import { isObject } from '../../../../domain/json';
import type { LLMError } from '../../../../domain/errors/LLMErrors';
import type { OpenAI } from 'openai';
import type { ReplyContext, SseMessage, StreamDecoder } from '../../Wire';
import type { FunctionCallItem, OutputItem, ResponseStatus } from '../../../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../../domain/types/StreamEvents';
import type { JsonObject, Origin } from '../../../../domain/types/VendorTypes';

type WireEventType = OpenAI.Responses.ResponseStreamEvent['type'];

/** Events that say again what items, deltas and the terminal event say. */
const IMPLIED: ReadonlySet<string> = new Set([
  'response.queued',
  'response.in_progress',
  'response.content_part.added',
  'response.content_part.done',
  'response.output_text.done',
  'response.refusal.done',
  'response.reasoning_text.done',
  'response.reasoning_summary_part.added',
  'response.reasoning_summary_part.done',
  'response.reasoning_summary_text.done',
  'response.function_call_arguments.delta',
  'response.function_call_arguments.done',
  // Other hosts' words for the same.
  'response.reasoning.done',
  'response.reasoning_part.added',
  'response.reasoning_part.done',
] satisfies (WireEventType | `response.reasoning${string}`)[]);

const STATUS_OF_END = {
  'response.completed': 'completed',
  'response.incomplete': 'incomplete',
  'response.failed': 'failed',
  'response.cancelled': 'cancelled',
} as const satisfies Record<string, ResponseStatus>;
type EndType = keyof typeof STATUS_OF_END;

export class ResponsesDecoder implements StreamDecoder {
  private readonly context: ReplyContext;
  private model: string;
  /** Call ids whose name, and whose whole call, have gone out. */
  private readonly announced = new Set<string>();
  private readonly delivered = new Set<string>();
  /** Finished items, for hosts that leave them out of the terminal response. */
  private readonly finished: { readonly output_index: number; readonly item: unknown }[] = [];
  private sawDelta = false;
  /** An `error` event, until the failed response that may follow it has told its usage. */
  private reported: JsonObject | undefined;
  private ended = false;

  constructor(context: ReplyContext) {
    this.context = context;
    this.model = context.model;
  }

  push(message: SseMessage, out: ResponseStreamEvent[]): void {
    if (this.ended) return;
    if (message.data.trim() === '[DONE]') {
      // On this wire no end marker: whatever ended the response came before it.
      this.throwReported();
      return;
    }
    const event = this.parse(message.data);
    const type = typeof event.type === 'string' ? event.type : (message.event ?? '');
    if (type === 'error' || message.event === 'error' || (type === '' && event.error !== undefined)) {
      this.reported ??= event;
      return;
    }
    if (type !== 'response.failed') this.throwReported();
    this.decode(type, event, out);
  }

  end(): void {
    if (this.ended) return;
    this.throwReported();
    throw this.broken('the stream ended before the response did');
  }

  private decode(type: string, event: JsonObject, out: ResponseStreamEvent[]): void {
    const output_index = typeof event.output_index === 'number' ? event.output_index : 0;
    switch (type) {
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        this.sawDelta = true;
        out.push({ type, output_index, delta: this.delta(event), ...placed(event.content_index) });
        return;
      case 'response.reasoning_text.delta':
      case 'response.reasoning.delta':
        out.push({
          type: 'response.reasoning.delta',
          output_index,
          delta: this.delta(event),
          summary: false,
          ...placed(event.content_index),
        });
        return;
      case 'response.reasoning_summary_text.delta':
        out.push({
          type: 'response.reasoning.delta',
          output_index,
          delta: this.delta(event),
          summary: true,
          ...placed(event.summary_index),
        });
        return;
      case 'response.output_text.annotation.added':
        if (isObject(event.annotation))
          out.push({
            type: 'response.annotation.added',
            output_index,
            annotation: event.annotation,
            ...placed(event.content_index),
          });
        return;
      case 'response.created':
        if (!isObject(event.response)) return;
        if (typeof event.response.model === 'string') this.model = event.response.model;
        out.push({ type, id: typeof event.response.id === 'string' ? event.response.id : '', model: this.model });
        return;
      case 'response.output_item.added':
        this.beginItem(event.item, output_index, out);
        return;
      case 'response.output_item.done':
        this.finished.push({ output_index, item: event.item });
        this.finishItem(this.readItem(event.item, output_index), output_index, out);
        return;
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
      case 'response.cancelled':
        this.finish(type, event, out);
        return;
      default:
        if (!IMPLIED.has(type)) out.push({ type: 'vendor.event', origin: this.origin(), raw: event });
    }
  }

  private beginItem(raw: unknown, output_index: number, out: ResponseStreamEvent[]): void {
    // Some hosts name a call, or give a compaction its content, only when it is whole.
    if (
      isObject(raw) &&
      raw.type === 'function_call' &&
      !(typeof raw.call_id === 'string' && typeof raw.name === 'string')
    )
      return;
    if (isObject(raw) && raw.type === 'compaction' && typeof raw.encrypted_content !== 'string') return;
    const item = this.readItem(raw, output_index);
    if (item.type === 'function_call') this.announce(item, output_index, out);
    else out.push({ type: 'response.output_item.added', output_index, item });
  }

  private finishItem(item: OutputItem, output_index: number, out: ResponseStreamEvent[]): void {
    if (item.type === 'function_call') {
      this.announce(item, output_index, out);
      this.delivered.add(item.call_id);
      if (item.status !== 'incomplete') out.push({ type: 'response.tool_use.done', output_index, item });
    }
    out.push({ type: 'response.output_item.done', output_index, item });
  }

  private announce(call: FunctionCallItem, output_index: number, out: ResponseStreamEvent[]): void {
    if (this.announced.has(call.call_id)) return;
    this.announced.add(call.call_id);
    out.push({ type: 'response.output_item.added', output_index, item: call });
    out.push({ type: 'response.tool_use.announced', output_index, call_id: call.call_id, name: call.name });
  }

  private finish(type: EndType, event: JsonObject, out: ResponseStreamEvent[]): void {
    const wire = this.terminalResponse(type, event);
    this.ended = true;
    if (type === 'response.failed') throw this.failed(wire);
    const response = fromResponses(wire, this.context);
    response.output.forEach((item, output_index) => {
      if (item.type === 'function_call' && !this.delivered.has(item.call_id)) this.finishItem(item, output_index, out);
    });
    if (response.vendor.usage !== undefined) out.push({ type: 'response.usage', usage: response.usage });
    out.push({ type: 'response.completed', response });
  }

  /** The response of the terminal event; some hosts leave its output empty, or items out of it, and its status open. */
  private terminalResponse(type: EndType, event: JsonObject): JsonObject {
    const { response } = event;
    if (!isObject(response)) throw this.broken(`${type} carries no response`);
    const isOpen =
      response.status === undefined ||
      response.status === null ||
      response.status === 'in_progress' ||
      response.status === 'queued';
    const whole = isOpen ? { ...response, status: STATUS_OF_END[type] } : response;
    const places = new Set(this.finished.map(({ output_index }) => output_index)).size;
    if (Array.isArray(response.output) && response.output.length > 0 && response.output.length >= places) return whole;
    if (this.finished.length > 0)
      return {
        ...whole,
        output: this.finished.toSorted((a, b) => a.output_index - b.output_index).map(({ item }) => item),
      };
    if (this.sawDelta && type === 'response.completed')
      throw this.broken('text came, but the response that ended it holds no item');
    return whole;
  }

  private failed(wire: JsonObject): LLMError {
    const response = readResponse({ ...wire, status: 'failed' }, this.context);
    return vendorError({ ...this.facts(), body: this.reported ?? wire.error ?? 'the response failed', response });
  }

  private throwReported(): void {
    if (this.reported === undefined) return;
    this.ended = true;
    throw vendorError({ ...this.facts(), body: this.reported });
  }

  private parse(data: string): JsonObject {
    let event: unknown;
    try {
      event = JSON.parse(data);
    } catch (cause) {
      throw this.broken('an event is not JSON', cause);
    }
    if (!isObject(event)) throw this.broken('an event is not a JSON object');
    return event;
  }

  private delta(event: JsonObject): string {
    if (typeof event.delta !== 'string') throw this.broken('a delta is not a text');
    return event.delta;
  }

  private readItem(raw: unknown, output_index: number): OutputItem {
    return readItem(raw, `output[${output_index}]`, {
      origin: this.origin(),
      refuse: (path, what) => this.broken(`${path} ${what}`),
    });
  }

  private origin(): Origin {
    return { wire: 'responses', vendor: this.context.vendor, model: this.model };
  }

  private broken(what: string, cause?: unknown): LLMStreamError {
    this.ended = true;
    return new LLMStreamError(`not a Responses stream: ${what}`, {
      ...this.facts(),
      ...(cause === undefined ? {} : { cause }),
    });
  }

  private facts(): { readonly vendor: string; readonly requestId?: string } {
    const { vendor, requestId } = this.context;
    return requestId === undefined ? { vendor } : { vendor, requestId };
  }
}

const FIRST: { readonly content_index?: number } = {};

/** Nearly every part is an item's first, and then nothing is said of its place. */
function placed(index: unknown): { readonly content_index?: number } {
  return typeof index === 'number' && index > 0 ? { content_index: index } : FIRST;
}
