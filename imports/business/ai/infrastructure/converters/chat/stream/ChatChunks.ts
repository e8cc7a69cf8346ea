/**
 * Domain events as chunks of a chat completion: for the loop beside every relayed stream, and for clients that
 * speak this wire.
 */
import { finishReasonOf } from '../gateway/ChatCompletionsGateway';
import { toChatAnnotation } from '../annotations';
import { isLegacy, toToolCall } from '../request/assistantMessage';
import { toChatUsage } from '../usage';
import { vendorFieldsOf } from '../vendorFields';
import type { LLMResponse, OutputItem } from '../../../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../../domain/types/StreamEvents';
import type { JsonObject } from '../../../../domain/types/VendorTypes';
import { isCallItem, argumentsOrEmpty } from '../../stream/callItems';
import type { CallItem } from '../../stream/callItems';
import { PassthroughFields } from './PassthroughFields';
import type { ChunkDelta, ChunkToolCall, OpenAIChunk } from './OpenAIChunk';
import type { StreamEncoderOptions } from '../../stream/StreamEncoder';
import { DeltaBackfill } from '../../stream/DeltaBackfill';

type ChunkHead = Pick<OpenAIChunk, 'id' | 'object' | 'created' | 'model'>;

const NO_CHUNKS: readonly OpenAIChunk[] = [];

export class ChatChunks {
  private readonly options: StreamEncoderOptions;
  private readonly backfill = new DeltaBackfill();
  private readonly passthrough = new PassthroughFields();
  private identity: ChunkHead;
  private emptyChunk: OpenAIChunk | undefined;
  private hasStarted = false;
  /** What the host said before it named the answer, as Azure does. */
  private readonly earlyChunks: JsonObject[] = [];
  private callCount = 0;
  private summaryIndex = 0;

  constructor(options: StreamEncoderOptions) {
    this.options = options;
    this.identity = { id: options.id, object: 'chat.completion.chunk', created: options.created, model: options.model };
  }

  /** What all chunks begin with, once the first has gone out. */
  get head(): ChunkHead | undefined {
    return this.hasStarted ? this.identity : undefined;
  }

  /** A chunk that says nothing. */
  get empty(): OpenAIChunk {
    this.emptyChunk ??= this.chunk({});
    return this.emptyChunk;
  }

  /** For whoever writes a delta's chunk without this class. */
  noteDelta({ output_index }: { readonly output_index: number }): void {
    this.backfill.noteDelta(output_index);
  }

  push(event: ResponseStreamEvent): readonly OpenAIChunk[] {
    switch (event.type) {
      case 'response.output_text.delta':
        this.backfill.noteDelta(event.output_index);
        return this.deltaChunks({ content: event.delta });
      case 'response.reasoning.delta':
        this.backfill.noteDelta(event.output_index);
        return this.deltaChunks({ [this.options.reasoningField ?? 'reasoning_content']: this.reasoningText(event) });
      case 'response.refusal.delta':
        this.backfill.noteDelta(event.output_index);
        return this.deltaChunks({ refusal: event.delta });
      case 'response.annotation.added':
        return this.deltaChunks({ annotations: [toChatAnnotation(event.annotation)] });
      case 'response.created':
        this.identity = { ...this.identity, id: event.id === '' ? this.identity.id : event.id, model: event.model };
        this.emptyChunk = undefined;
        return this.start();
      case 'response.tool_use.announced':
        if (this.options.emitFunctionAnnouncements !== true) return NO_CHUNKS;
        // Clients hand every frame's data to their chunk reader, so what they don't know must be a chunk that says
        // nothing.
        return [...this.start(), { ...this.chunk({}), tool_use_announced: { id: event.call_id, name: event.name } }];
      case 'response.tool_use.done':
        return this.callChunks(event.item);
      case 'response.output_item.done':
        return this.itemChunks(event.output_index, event.item);
      case 'vendor.event':
        return event.origin.wire === 'chat_completions' ? this.vendorChunk(event.raw) : NO_CHUNKS;
      case 'response.completed':
        return [...this.start(), ...this.finish(event.response)];
      case 'response.output_item.added':
      case 'response.usage':
      case 'response.failed':
      case 'wire.message':
        return NO_CHUNKS;
    }
  }

  private deltaChunks(delta: ChunkDelta): readonly OpenAIChunk[] {
    return this.hasStarted ? [this.chunk(delta)] : [...this.start(), this.chunk(delta)];
  }

  private start(): readonly OpenAIChunk[] {
    if (this.hasStarted) return NO_CHUNKS;
    this.hasStarted = true;
    return [
      this.chunk({ role: 'assistant', content: '' }),
      ...this.earlyChunks.map((raw) => this.passthrough.relayChunk(raw, this.identity)),
    ];
  }

  private vendorChunk(raw: JsonObject): readonly OpenAIChunk[] {
    if (this.hasStarted) return [this.passthrough.relayChunk(raw, this.identity)];
    this.earlyChunks.push(raw);
    return NO_CHUNKS;
  }

  private chunk(delta: ChunkDelta, finish_reason: string | null = null): OpenAIChunk {
    const { id, object, created, model } = this.identity;
    return { id, object, created, model, choices: [{ index: 0, delta, finish_reason }] };
  }

  /** Parts of a summary are paragraphs, here as in an answer without streaming. */
  private reasoningText(event: Extract<ResponseStreamEvent, { readonly type: 'response.reasoning.delta' }>): string {
    const part = event.summary ? (event.content_index ?? 0) : 0;
    const startsParagraph = part > this.summaryIndex;
    this.summaryIndex = part;
    return startsParagraph ? `\n\n${event.delta}` : event.delta;
  }

  private itemChunks(output_index: number, item: OutputItem): readonly OpenAIChunk[] {
    if (item.type === 'function_call') return NO_CHUNKS;
    if (isCallItem(item)) return this.callChunks(item);
    if (item.type === 'vendor_item')
      return item.origin.wire === 'chat_completions' ? this.deltaChunks({ executed_tools: [item.item] }) : NO_CHUNKS;
    return this.backfill.missingDeltas(output_index, item).flatMap((delta) => this.push(delta));
  }

  private callChunks(item: CallItem): readonly OpenAIChunk[] {
    if (item.type === 'function_call' && isLegacy(item))
      return this.deltaChunks({ function_call: { name: item.name, arguments: argumentsOrEmpty(item) } });
    const index = this.callCount;
    this.callCount += 1;
    return this.deltaChunks({ tool_calls: [toolCallDelta(item, index)] });
  }

  private finish(response: LLMResponse): readonly OpenAIChunk[] {
    const { wire, finish_reason, usage } = response.vendor;
    const isOwn = wire === 'chat_completions';
    const finishReason = (isOwn ? finish_reason : null) ?? finishReasonOf(response, this.callCount > 0);
    const last = this.chunk({}, finishReason);
    return [
      isOwn ? this.passthrough.finish(last, response, this.options.relayToolUseEvents !== false) : last,
      { ...this.identity, choices: [], usage: isOwn && usage !== undefined ? usage : toChatUsage(response.usage) },
    ];
  }
}

/** The call as the wire that it came over wrote it, where that was this one. */
function toolCallDelta(item: CallItem, index: number): ChunkToolCall {
  const { from } = vendorFieldsOf(item);
  const call = toToolCall(item, String(item.call_id), typeof from === 'string' ? from : '');
  // Boundary: `toToolCall` gives id and type, and of `function` and `custom` the one that the type names.
  return { index, ...call } as unknown as ChunkToolCall;
}
