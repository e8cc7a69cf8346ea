/**
 * Decodes the event stream of the Responses API into domain events. Every event is emitted at once; incomplete
 * arguments are withheld unless the request asks for them. https://platform.openai.com/docs/api-reference/responses-streaming
 */
import { fromResponses, readResponse } from '../ResponsesConverter';
import { readItem } from '../items';
import { LLMStreamError } from '../../../../domain/errors/LLMErrors';
import { vendorError } from '../../../../domain/errors/vendorErrors';
import { isObject } from '../../../../domain/util/json';
import type { LLMError } from '../../../../domain/errors/LLMErrors';
import type { OpenAI } from 'openai';
import type { ResponseContext, SseMessage, StreamDecoder } from '../../Wire';
import type { FunctionCallItem, OutputItem, ResponseStatus } from '../../../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../../domain/types/StreamEvents';
import type { JsonObject, Origin } from '../../../../domain/types/VendorTypes';

type WireEventType = OpenAI.Responses.ResponseStreamEvent['type'];

/** Events that repeat what items, deltas and the terminal event contain. */
const REDUNDANT_EVENTS: ReadonlySet<string> = new Set([
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
  'response.function_call_arguments.done',
  // The same events under the names that other vendors use.
  'response.reasoning.done',
  'response.reasoning_part.added',
  'response.reasoning_part.done',
] satisfies (WireEventType | `response.reasoning${string}`)[]);

const STATUS_OF_EVENT = {
  'response.completed': 'completed',
  'response.incomplete': 'incomplete',
  'response.failed': 'failed',
  'response.cancelled': 'cancelled',
} as const satisfies Record<string, ResponseStatus>;
type TerminalEvent = keyof typeof STATUS_OF_EVENT;

export class ResponsesDecoder implements StreamDecoder {
  private readonly context: ResponseContext;
  private model: string;
  /** Ids of the calls that were announced, and of those that were emitted in full. */
  private readonly announced = new Set<string>();
  private readonly delivered = new Set<string>();
  /** The calls that were announced, by their index; only if their arguments are emitted in pieces. */
  private readonly calls = new Map<number, FunctionCallItem>();
  /** Finished items, for vendors that omit them from the terminal response. */
  private readonly finished: { readonly output_index: number; readonly item: unknown }[] = [];
  private hasTextDelta = false;
  /** An `error` event. It is held back because the failed response that may follow it reports the usage. */
  private reportedError: JsonObject | undefined;
  private hasEnded = false;

  constructor(context: ResponseContext) {
    this.context = context;
    this.model = context.model;
  }

  push(message: SseMessage, out: ResponseStreamEvent[]): void {
    if (this.hasEnded) return;
    if (message.data.trim() === '[DONE]') {
      // Not an end marker on this wire: the terminal event must have come before it.
      this.throwReportedError();
      return;
    }
    const event = this.parse(message.data);
    const type = typeof event.type === 'string' ? event.type : (message.event ?? '');
    if (type === 'error' || message.event === 'error' || (type === '' && event.error !== undefined)) {
      this.reportedError ??= event;
      return;
    }
    if (type !== 'response.failed') this.throwReportedError();
    this.decode(type, event, out);
  }

  end(): void {
    if (this.hasEnded) return;
    this.throwReportedError();
    throw this.invalidStream('it ended before the response was complete');
  }

  private decode(type: string, event: JsonObject, out: ResponseStreamEvent[]): void {
    const output_index = typeof event.output_index === 'number' ? event.output_index : 0;
    switch (type) {
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        this.hasTextDelta = true;
        out.push({ type, output_index, delta: this.deltaOf(event), ...indexField(event.content_index) });
        return;
      case 'response.reasoning_text.delta':
      case 'response.reasoning.delta':
        out.push({
          type: 'response.reasoning.delta',
          output_index,
          delta: this.deltaOf(event),
          summary: false,
          ...indexField(event.content_index),
        });
        return;
      case 'response.reasoning_summary_text.delta':
        out.push({
          type: 'response.reasoning.delta',
          output_index,
          delta: this.deltaOf(event),
          summary: true,
          ...indexField(event.summary_index),
        });
        return;
      case 'response.output_text.annotation.added':
        if (isObject(event.annotation))
          out.push({
            type: 'response.annotation.added',
            output_index,
            annotation: event.annotation,
            ...indexField(event.content_index),
          });
        return;
      case 'response.function_call_arguments.delta': {
        const call = this.calls.get(output_index);
        if (call === undefined) return;
        const { call_id, name } = call;
        out.push({ type: 'response.tool_use.delta', output_index, call_id, name, delta: this.deltaOf(event) });
        return;
      }
      case 'response.created':
        if (!isObject(event.response)) return;
        if (typeof event.response.model === 'string') this.model = event.response.model;
        out.push({ type, id: typeof event.response.id === 'string' ? event.response.id : '', model: this.model });
        return;
      case 'response.output_item.added':
        this.startItem(event.item, output_index, out);
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
        if (!REDUNDANT_EVENTS.has(type)) out.push({ type: 'vendor.event', origin: this.origin(), raw: event });
    }
  }

  private startItem(raw: unknown, output_index: number, out: ResponseStreamEvent[]): void {
    // Some vendors send the name of a call, or the content of a compaction, only with the completed item.
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
    if (this.context.streamArguments === true) this.calls.set(output_index, call);
    out.push({ type: 'response.output_item.added', output_index, item: call });
    out.push({ type: 'response.tool_use.announced', output_index, call_id: call.call_id, name: call.name });
  }

  private finish(type: TerminalEvent, event: JsonObject, out: ResponseStreamEvent[]): void {
    const wire = this.terminalResponse(type, event);
    this.hasEnded = true;
    if (type === 'response.failed') throw this.failure(wire);
    const response = fromResponses(wire, this.context);
    response.output.forEach((item, output_index) => {
      if (item.type === 'function_call' && !this.delivered.has(item.call_id)) this.finishItem(item, output_index, out);
    });
    if (response.vendor.usage !== undefined) out.push({ type: 'response.usage', usage: response.usage });
    out.push({ type: 'response.completed', response });
  }

  /** The response of the terminal event. Some vendors omit output items from it, or leave its status open. */
  private terminalResponse(type: TerminalEvent, event: JsonObject): JsonObject {
    const { response } = event;
    if (!isObject(response)) throw this.invalidStream(`a "${type}" event has no response`);
    const lacksFinalStatus =
      response.status === undefined ||
      response.status === null ||
      response.status === 'in_progress' ||
      response.status === 'queued';
    const closed = lacksFinalStatus ? { ...response, status: STATUS_OF_EVENT[type] } : response;
    const itemCount = new Set(this.finished.map(({ output_index }) => output_index)).size;
    if (Array.isArray(response.output) && response.output.length > 0 && response.output.length >= itemCount)
      return closed;
    if (this.finished.length > 0)
      return {
        ...closed,
        output: this.finished.toSorted((a, b) => a.output_index - b.output_index).map(({ item }) => item),
      };
    if (this.hasTextDelta && type === 'response.completed')
      throw this.invalidStream('it sent text, but its final response has no items');
    return closed;
  }

  private failure(wire: JsonObject): LLMError {
    const response = readResponse({ ...wire, status: 'failed' }, this.context);
    return vendorError({
      ...this.errorDetails(),
      body: this.reportedError ?? wire.error ?? 'The response failed.',
      response,
    });
  }

  private throwReportedError(): void {
    if (this.reportedError === undefined) return;
    this.hasEnded = true;
    throw vendorError({ ...this.errorDetails(), body: this.reportedError });
  }

  private parse(data: string): JsonObject {
    let event: unknown;
    try {
      event = JSON.parse(data);
    } catch (cause) {
      throw this.invalidStream('an event is not JSON', cause);
    }
    if (!isObject(event)) throw this.invalidStream('an event is not a JSON object');
    return event;
  }

  private deltaOf(event: JsonObject): string {
    if (typeof event.delta !== 'string') throw this.invalidStream('a delta is not a string');
    return event.delta;
  }

  private readItem(raw: unknown, output_index: number): OutputItem {
    return readItem(raw, `output[${output_index}]`, {
      origin: this.origin(),
      invalid: (path, what) => this.invalidStream(`${path} ${what}`),
    });
  }

  private origin(): Origin {
    return { wire: 'responses', vendor: this.context.vendor, model: this.model };
  }

  private invalidStream(what: string, cause?: unknown): LLMStreamError {
    this.hasEnded = true;
    return new LLMStreamError(`The stream of ${this.context.vendor} is not a valid Responses stream: ${what}.`, {
      ...this.errorDetails(),
      cause,
    });
  }

  private errorDetails(): { readonly vendor: string; readonly requestId?: string } {
    const { vendor, requestId } = this.context;
    return requestId === undefined ? { vendor } : { vendor, requestId };
  }
}

const FIRST_PART: { readonly content_index?: number } = {};

/** The index is omitted for an item's first part, which most parts are. */
function indexField(index: unknown): { readonly content_index?: number } {
  return typeof index === 'number' && index > 0 ? { content_index: index } : FIRST_PART;
}
