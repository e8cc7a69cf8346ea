/**
 * Converts domain events to chunks of a chat completion, both for the agentic loop and for clients of this wire.
 * https://platform.openai.com/docs/api-reference/chat-streaming/streaming
 */
import { generatedImageOf, toChatImage } from '../../shared/generatedImage';
import { finishReasonOf } from '../gateway/ChatCompletionsGateway';
import { textLengthOf, toChatAnnotation, urlCitationsOf } from '../annotations';
import { isUnknownToOpenAI } from '../../shared/locatedAnnotation';
import { isLegacy, toToolCall } from '../request/assistantMessage';
import { toChatUsage } from '../usage';
import { vendorFieldsOf } from '../vendorFields';
import type { LLMResponse, MessageItem, OutputItem } from '../../../../domain/types/ResponsesAPITypes';
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
  /** Vendor chunks that arrived before the response had an id, as Azure sends them. */
  private readonly earlyChunks: JsonObject[] = [];
  private callCount = 0;
  /** Complete calls that wait for the last chunk, if that is where they belong. */
  private buffered: ChunkDelta = {};
  private summaryIndex = 0;
  /** Length of the texts of the messages that are complete. */
  private textLength = 0;
  /** Whether the open message has citations with a quote but no range, which its complete text gives them. */
  private awaitsText = false;

  constructor(options: StreamEncoderOptions) {
    this.options = options;
    this.identity = { id: options.id, object: 'chat.completion.chunk', created: options.created, model: options.model };
  }

  /** The fields that all chunks share; undefined until the first chunk was sent. */
  get head(): ChunkHead | undefined {
    return this.hasStarted ? this.identity : undefined;
  }

  /** A chunk without content. */
  get empty(): OpenAIChunk {
    this.emptyChunk ??= this.chunk({});
    return this.emptyChunk;
  }

  /** Records a delta whose chunk was written without this class. */
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
        // OpenAI has citations of files in its Responses API only, and none of places.
        if ('file_id' in event.annotation || isUnknownToOpenAI(event.annotation)) return NO_CHUNKS;
        // Anthropic's citations, whose range is the text that they arrive with.
        if ('cited_text' in event.annotation) {
          this.awaitsText = true;
          return NO_CHUNKS;
        }
        return this.deltaChunks({ annotations: [toChatAnnotation(this.inContent(event.annotation))] });
      case 'response.created':
        this.identity = { ...this.identity, id: event.id === '' ? this.identity.id : event.id, model: event.model };
        this.emptyChunk = undefined;
        return this.start();
      case 'response.tool_use.announced':
        if (this.options.emitFunctionAnnouncements !== true) return NO_CHUNKS;
        // Clients parse every frame as a chunk, so the announcement is an extra field of a chunk without content.
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
      case 'response.tool_use.delta':
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

  /** Separates the parts of a summary like paragraphs, as in a response without streaming. */
  private reasoningText(event: Extract<ResponseStreamEvent, { readonly type: 'response.reasoning.delta' }>): string {
    const part = event.summary ? (event.content_index ?? 0) : 0;
    const startsParagraph = part > this.summaryIndex;
    this.summaryIndex = part;
    return startsParagraph ? `\n\n${event.delta}` : event.delta;
  }

  private itemChunks(output_index: number, item: OutputItem): readonly OpenAIChunk[] {
    if (item.type === 'function_call') return NO_CHUNKS;
    if (isCallItem(item)) return this.callChunks(item);
    const image = generatedImageOf(item);
    if (image !== undefined) return this.deltaChunks({ images: [toChatImage(image)] });
    if (item.type === 'vendor_item')
      return item.origin.wire === 'chat_completions' ? this.deltaChunks({ executed_tools: [item.item] }) : NO_CHUNKS;
    const missing = this.backfill.missingDeltas(output_index, item).flatMap((delta) => this.push(delta));
    return item.type === 'message' ? [...missing, ...this.citationChunks(item)] : missing;
  }

  /** Counts a range from the beginning of the content instead of that of the message. */
  private inContent(annotation: JsonObject): JsonObject {
    const { start_index, end_index } = annotation;
    if (this.textLength === 0 || typeof start_index !== 'number' || typeof end_index !== 'number') return annotation;
    return { ...annotation, start_index: start_index + this.textLength, end_index: end_index + this.textLength };
  }

  private citationChunks(item: MessageItem): readonly OpenAIChunk[] {
    const annotations = this.awaitsText ? urlCitationsOf(item, this.textLength) : [];
    this.textLength += textLengthOf(item);
    this.awaitsText = false;
    return annotations.length === 0 ? NO_CHUNKS : this.deltaChunks({ annotations });
  }

  private callChunks(item: CallItem): readonly OpenAIChunk[] {
    if (item.type === 'function_call' && isLegacy(item))
      return this.callDelta({ function_call: { name: item.name, arguments: argumentsOrEmpty(item) } });
    const index = this.callCount;
    this.callCount += 1;
    const call = toolCallDelta(item, index);
    return this.callDelta({ tool_calls: [...(this.buffered.tool_calls ?? []), call] });
  }

  private callDelta(delta: ChunkDelta): readonly OpenAIChunk[] {
    if (this.options.callsInLastChunk !== true) return this.deltaChunks(delta);
    this.buffered = { ...this.buffered, ...delta };
    return this.start();
  }

  private finish(response: LLMResponse): readonly OpenAIChunk[] {
    const { wire, finish_reason, usage } = response.vendor;
    const isOwn = wire === 'chat_completions';
    const finishReason = (isOwn ? finish_reason : null) ?? finishReasonOf(response, this.callCount > 0);
    const last = this.chunk(this.buffered, finishReason);
    return [
      isOwn ? this.passthrough.finish(last, response, this.options.relayToolUseEvents !== false) : last,
      { ...this.identity, choices: [], usage: isOwn && usage !== undefined ? usage : toChatUsage(response.usage) },
    ];
  }
}

/** The call in its vendor's own form if it came over this wire. */
function toolCallDelta(item: CallItem, index: number): ChunkToolCall {
  const { from } = vendorFieldsOf(item);
  const call = toToolCall(item, String(item.call_id), typeof from === 'string' ? from : '');
  // The cast is safe: `toToolCall` sets `id`, `type`, and the field that the type names.
  return { index, ...call } as unknown as ChunkToolCall;
}
