/**
 * Decodes a Gemini stream to domain events. Each unnamed SSE message is a `GenerateContentResponse` with the next
 * parts; a finish reason takes the place of an end marker. The assembled response is converted like one without
 * streaming. https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent
 */
import { parseEnvelope, modelOf, namingOf } from '../response/responseEnvelope';
import { GoogleAssembly } from './GoogleAssembly';
import { fromGoogle } from '../GoogleConverter';
import { toItem, toFunctionCall } from '../response/items';
import { usageOf } from '../usage';
import type { PartStep } from './CandidateAssembly';
import type { ItemNaming, PartKind } from '../response/items';
import type { GooglePart } from '../googleTypes';
import type { ResponseContext, SseMessage, StreamDecoder } from '../../Wire';
import { LLMStreamError } from '../../../../domain/errors/LLMErrors';
import { isList } from '../../../../domain/util/json';
import type { OutputItem } from '../../../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../../domain/types/StreamEvents';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

/** The message or reasoning item that text is arriving for. */
interface OpenItem {
  readonly kind: PartKind;
  readonly index: number;
  /** Indexes of its first and last part in the response. */
  readonly first: number;
  last: number;
}

export class GoogleDecoder implements StreamDecoder {
  private readonly context: ResponseContext;
  private readonly assembly: GoogleAssembly;
  private naming: ItemNaming | undefined;
  private open: OpenItem | undefined;
  private items = 0;
  private calls = 0;
  /** What was emitted of the arguments of the last call. */
  private argumentText = '';
  private awaitsUsage = true;

  constructor(context: ResponseContext) {
    this.context = context;
    this.assembly = new GoogleAssembly(context);
  }

  push(message: SseMessage, out: ResponseStreamEvent[]): void {
    const payload = this.parse(message.data);
    // Without `alt=sse`, the body is a list of chunks.
    for (const chunk of isList(payload) && payload.length > 0 ? payload : [payload])
      this.addChunk(parseEnvelope(chunk, this.context), out);
  }

  private addChunk(chunk: JsonObject, out: ResponseStreamEvent[]): void {
    if (this.naming === undefined) {
      this.naming = namingOf(chunk, this.context);
      out.push({ type: 'response.created', id: this.naming.seed, model: modelOf(chunk, this.context) });
    }
    for (const step of this.assembly.push(chunk)) this.emitStep(step, this.naming, out);
    this.emitUsageOnce(out);
  }

  /**
   * The last chunk may contain only token counts, so the response is complete only when the body has ended.
   * @throws LLMStreamError without a finish reason, LLMServerError for a failed response
   */
  end(out: ResponseStreamEvent[]): void {
    const response = fromGoogle(this.assembly.result(), this.context);
    response.output.slice(this.items).forEach((item) => {
      out.push({ type: 'response.output_item.added', output_index: this.items, item });
      this.open = { kind: 'other', index: this.items, first: 0, last: 0 };
      this.items += 1;
    });
    response.output.forEach((item, output_index) => {
      for (const annotation of annotationsOf(item))
        out.push({ type: 'response.annotation.added', output_index, annotation });
    });
    const last = this.open === undefined ? undefined : response.output[this.open.index];
    if (this.open !== undefined && last !== undefined)
      out.push({ type: 'response.output_item.done', output_index: this.open.index, item: last });
    out.push({ type: 'response.usage', usage: response.usage }, { type: 'response.completed', response });
  }

  private parse(data: string): unknown {
    try {
      return JSON.parse(data);
    } catch (cause) {
      throw new LLMStreamError('A chunk of the stream is not JSON.', { vendor: this.context.vendor, cause });
    }
  }

  /** Input tokens are known from the first chunk on; the other counts are final only at the end. */
  private emitUsageOnce(out: ResponseStreamEvent[]): void {
    if (!this.awaitsUsage) return;
    const metadata = this.assembly.usageMetadata;
    if (metadata?.promptTokenCount === undefined) return;
    this.awaitsUsage = false;
    out.push({ type: 'response.usage', usage: usageOf(metadata, []) });
  }

  private emitStep(step: PartStep, naming: ItemNaming, out: ResponseStreamEvent[]): void {
    switch (step.step) {
      case 'text':
        this.emitText(step.kind, step.delta, step.partIndex, naming, out);
        return;
      case 'started':
        this.close(naming, out);
        this.announceCall(step.part, naming, out);
        this.emitArguments(step.part, step.text, naming, out);
        return;
      case 'continued':
        this.emitArguments(step.part, step.text, naming, out);
        return;
      case 'complete':
        this.close(naming, out);
        if (step.kind === 'call') this.emitCall(step.part, step.wasStarted, naming, out);
        else this.emitOther(step.part, naming, out);
    }
  }

  private emitText(
    kind: 'text' | 'thought',
    delta: string,
    partIndex: number,
    naming: ItemNaming,
    out: ResponseStreamEvent[],
  ): void {
    if (this.open?.kind !== kind) {
      this.close(naming, out);
      this.open = { kind, index: this.items, first: partIndex, last: partIndex };
      this.items += 1;
      out.push({
        type: 'response.output_item.added',
        output_index: this.open.index,
        item: toItem({ kind, parts: [] }, this.open.index, 0, naming, 'in_progress'),
      });
    }
    this.open.last = partIndex;
    if (delta === '') return;
    const output_index = this.open.index;
    out.push(
      kind === 'text'
        ? { type: 'response.output_text.delta', output_index, delta }
        : { type: 'response.reasoning.delta', output_index, delta, summary: true },
    );
  }

  private close(naming: ItemNaming, out: ResponseStreamEvent[]): void {
    if (this.open === undefined) return;
    const { kind, index, first, last } = this.open;
    this.open = undefined;
    const item = toItem({ kind, parts: this.assembly.parts.slice(first, last + 1) }, index, 0, naming, 'completed');
    out.push({ type: 'response.output_item.done', output_index: index, item });
  }

  /** Announces a call. Its arguments are emitted once they are complete. */
  private announceCall(part: GooglePart, naming: ItemNaming, out: ResponseStreamEvent[]): void {
    const item = toFunctionCall(part, this.items, this.calls, naming, 'completed');
    out.push({
      type: 'response.output_item.added',
      output_index: this.items,
      item: { ...item, arguments: '', status: 'in_progress' },
    });
    out.push({ type: 'response.tool_use.announced', output_index: this.items, call_id: item.call_id, name: item.name });
    this.items += 1;
    this.calls += 1;
    this.argumentText = '';
  }

  /** @param text the JSON so far; pieces that change what came before wait for the complete arguments */
  private emitArguments(part: GooglePart, text: string, naming: ItemNaming, out: ResponseStreamEvent[]): void {
    const delta = text.startsWith(this.argumentText) ? text.slice(this.argumentText.length) : '';
    if (this.context.streamArguments !== true || delta === '') return;
    const output_index = this.items - 1;
    const { call_id, name } = toFunctionCall(part, output_index, this.calls - 1, naming, 'in_progress');
    this.argumentText = text;
    out.push({ type: 'response.tool_use.delta', output_index, call_id, name, delta });
  }

  private emitCall(part: GooglePart, wasStarted: boolean, naming: ItemNaming, out: ResponseStreamEvent[]): void {
    if (!wasStarted) this.announceCall(part, naming, out);
    const output_index = this.items - 1;
    const item = toFunctionCall(part, output_index, this.calls - 1, naming, 'completed');
    this.emitArguments(part, item.arguments, naming, out);
    out.push(
      { type: 'response.tool_use.done', output_index, item },
      { type: 'response.output_item.done', output_index, item },
    );
  }

  private emitOther(part: GooglePart, naming: ItemNaming, out: ResponseStreamEvent[]): void {
    const output_index = this.items;
    const item = toItem({ kind: 'other', parts: [part] }, output_index, 0, naming, 'completed');
    this.items += 1;
    out.push(
      { type: 'response.output_item.added', output_index, item },
      { type: 'response.output_item.done', output_index, item },
    );
  }
}

/** Ranges are those in the text of the message, since its deltas do not say to which part they belong. */
function annotationsOf(item: OutputItem): readonly JsonObject[] {
  if (item.type !== 'message') return [];
  let from = 0;
  return item.content.flatMap((part) => {
    if (part.type !== 'output_text') return [];
    const offset = from;
    from += part.text.length;
    return part.annotations.map((annotation) => ({
      ...annotation,
      start_index: Number(annotation.start_index) + offset,
      end_index: Number(annotation.end_index) + offset,
    }));
  });
}
