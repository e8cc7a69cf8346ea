/**
 * Encodes domain events as an SSE stream of the Messages API.
 * https://platform.claude.com/docs/en/build-with-claude/streaming
 */
import { isObject } from '../../../../domain/util/json';
import { NO_USAGE } from '../../../../domain/entities/Response';
import type { LLMError } from '../../../../domain/errors/LLMErrors';
import { omitUndefined } from '../../../../domain/util/omitUndefined';
import type { LLMResponse, OutputItem, Usage } from '../../../../domain/types/ResponsesAPITypes';
import type { TextDelta } from '../../../../domain/types/StreamEvents';
import type { JsonObject } from '../../../../domain/types/VendorTypes';
import { toContentBlocks } from '../request/contentBlocks';
import { toAnthropicUsage, stopReasonOf } from '../response/outcome';
import { BLOCK_DELTAS, callBlock, citationsOf, finishedBlock } from './anthropicBlockFrames';
import type { DeltaKind } from './anthropicBlockFrames';
import { generatedImageOf, omittedImage } from '../../shared/generatedImage';
import { BaseStreamEncoder } from '../../stream/BaseStreamEncoder';
import type { ContentEvent } from '../../stream/BaseStreamEncoder';
import { namedFrame, NO_FRAMES } from '../../stream/StreamEncoder';
import type { StreamEncoderOptions } from '../../stream/StreamEncoder';
import { anthropicStreamError } from './anthropicStreamError';
import { DeltaBackfill } from '../../stream/DeltaBackfill';

/** The block that deltas are arriving for. Blocks follow one another. */
interface OpenBlock {
  readonly kind: DeltaKind;
  readonly output_index: number;
  readonly content_index: number;
  readonly index: number;
  /** The frame of a delta up to its text. */
  readonly beforeText: string;
}

export class AnthropicEncoder extends BaseStreamEncoder {
  private readonly backfill = new DeltaBackfill();
  private id: string;
  private model: string;
  /** The usage counted before the message started. */
  private usage: Usage = NO_USAGE;
  private hasStarted = false;
  private nextIndex = 0;
  private open: OpenBlock | undefined;
  /** The text of the most recent citation. */
  private lastCited: { readonly output_index: number; readonly content_index?: number } | undefined;
  /** Output indexes of messages whose citations were forwarded verbatim. */
  private readonly citedItems = new Set<number>();

  constructor(options: StreamEncoderOptions) {
    super(options);
    this.id = options.id;
    this.model = options.model;
  }

  protected encode(event: ContentEvent): readonly string[] {
    switch (event.type) {
      case 'response.output_text.delta':
        return this.encodeDelta('text', event);
      case 'response.refusal.delta':
        return this.encodeDelta('text', event);
      case 'response.reasoning.delta':
        return this.encodeDelta('thinking', event);
      case 'response.created':
        // Wait for the next event, which may be the usage that belongs in message_start.
        if (event.id !== '') this.id = event.id;
        this.model = event.model;
        return NO_FRAMES;
      case 'response.usage':
        if (this.hasStarted) return NO_FRAMES;
        this.usage = event.usage;
        return this.startMessage();
      case 'response.tool_use.announced':
        if (this.options.emitFunctionAnnouncements !== true) return NO_FRAMES;
        return [
          ...this.startMessage(),
          namedFrame('tool_use_announced', { type: 'tool_use_announced', id: event.call_id, name: event.name }),
        ];
      case 'response.tool_use.done':
        return [...this.closeBlock(), ...this.blockFrames(...callBlock(event.item))];
      case 'response.output_item.done':
        return this.finishItem(event.output_index, event.item);
      case 'vendor.event':
        return event.origin.wire === 'anthropic_messages' ? this.vendorEvent(event.raw) : NO_FRAMES;
      case 'response.output_item.added':
        return this.startMessage();
      case 'response.tool_use.delta':
      case 'response.annotation.added':
        this.lastCited = event;
        return NO_FRAMES;
    }
  }

  protected complete(response: LLMResponse): readonly string[] {
    const { wire, finish_reason, fields, usage } = response.vendor;
    const isOwn = wire === 'anthropic_messages';
    const { context_management, input_transformations, ...others } = (isOwn ? fields : undefined) ?? {};
    const stop_reason = (isOwn ? finish_reason : null) ?? stopReasonOf(response);
    return [
      ...this.startMessage(),
      ...this.closeBlock(),
      namedFrame('message_delta', {
        type: 'message_delta',
        delta: { stop_reason, stop_sequence: null, ...others },
        usage: isOwn && usage !== undefined ? usage : toAnthropicUsage(response.usage),
        ...omitUndefined({ context_management, input_transformations }),
      }),
    ];
  }

  protected endMarker(): readonly string[] {
    return MESSAGE_STOP;
  }

  protected encodeError(error: LLMError): readonly string[] {
    return [namedFrame('error', anthropicStreamError(error))];
  }

  private startMessage(): readonly string[] {
    if (this.hasStarted) return NO_FRAMES;
    this.hasStarted = true;
    const message = {
      id: this.id,
      type: 'message',
      role: 'assistant',
      model: this.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
    };
    return [
      namedFrame('message_start', {
        type: 'message_start',
        message: { ...message, usage: toAnthropicUsage(this.usage) },
      }),
    ];
  }

  private encodeDelta(kind: DeltaKind, event: TextDelta): readonly string[] {
    const { open } = this;
    const { output_index, content_index = 0, delta } = event;
    this.backfill.noteDelta(output_index);
    const isSameItem = open !== undefined && open.kind === kind && open.output_index === output_index;
    if (isSameItem && open.content_index === content_index) return [textFrame(open, delta)];
    if (isSameItem && kind === 'thinking') {
      // Parts of a summary become paragraphs of one thinking block, parts of a message separate blocks.
      this.open = { ...open, content_index };
      return [textFrame(open, `\n\n${delta}`)];
    }
    const { frames, block } = this.openBlock(kind, output_index, content_index);
    return [...frames, textFrame(block, delta)];
  }

  private openBlock(
    kind: DeltaKind,
    output_index: number,
    content_index: number,
  ): { readonly frames: readonly string[]; readonly block: OpenBlock } {
    const index = this.nextIndex;
    const { start, name, field } = BLOCK_DELTAS[kind];
    const beforeText = `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":"${name}","${field}":`;
    const frames = [...this.startMessage(), ...this.closeBlock(), blockStart(index, start)];
    const block: OpenBlock = { kind, output_index, content_index, index, beforeText };
    this.nextIndex += 1;
    this.open = block;
    return { frames, block };
  }

  private closeBlock(): readonly string[] {
    if (this.open === undefined) return NO_FRAMES;
    const { index } = this.open;
    this.open = undefined;
    return [blockStop(index)];
  }

  private finishItem(output_index: number, item: OutputItem): readonly string[] {
    const { open } = this;
    if (item.type === 'function_call') return NO_FRAMES;
    if (open?.output_index === output_index) return [...this.closingDeltas(item, open), ...this.closeBlock()];
    if (item.type === 'message' || (item.type === 'reasoning' && item.origin?.wire !== 'anthropic_messages')) {
      const frames = this.backfill.missingDeltas(output_index, item).flatMap((event) => this.encode(event));
      return [...frames, ...(frames.length === 0 ? NO_FRAMES : this.closeBlock())];
    }
    const image = generatedImageOf(item);
    if (image !== undefined) {
      const delta = { type: 'text_delta', text: omittedImage(image) };
      return [...this.closeBlock(), ...this.blockFrames(BLOCK_DELTAS.text.start, [delta])];
    }
    // Other vendor items of other wires are not shown to clients.
    if (!('origin' in item) || item.origin.wire !== 'anthropic_messages') return NO_FRAMES;
    return [
      ...this.closeBlock(),
      ...toContentBlocks(item).blocks.flatMap((block) => this.blockFrames(...finishedBlock(block))),
    ];
  }

  /** The last deltas of a block: the signature of its thinking, the citations of its text. */
  private closingDeltas(item: OutputItem, open: OpenBlock): readonly string[] {
    if (
      item.type === 'reasoning' &&
      item.origin?.wire === 'anthropic_messages' &&
      item.encrypted_content !== undefined
    ) {
      return [blockDelta(open.index, { type: 'signature_delta', signature: item.encrypted_content })];
    }
    if (item.type !== 'message' || this.citedItems.has(open.output_index)) return NO_FRAMES;
    return item.content
      .flatMap(citationsOf)
      .map((citation) => blockDelta(open.index, { type: 'citations_delta', citation }));
  }

  /** Encodes a block that arrived in one piece. */
  private blockFrames(block: JsonObject, deltas: readonly JsonObject[]): readonly string[] {
    const index = this.nextIndex;
    this.nextIndex += 1;
    return [
      ...this.startMessage(),
      blockStart(index, block),
      ...deltas.map((delta) => blockDelta(index, delta)),
      blockStop(index),
    ];
  }

  /** Deltas of unknown types belong to the open block. Blocks that arrived in one piece already contain theirs. */
  private vendorEvent(raw: JsonObject): readonly string[] {
    if (raw.type !== 'content_block_delta') return [...this.startMessage(), namedFrame(String(raw.type), raw)];
    if (isObject(raw.delta) && raw.delta.type === 'citations_delta') return this.citation(raw.delta);
    return this.open === undefined
      ? NO_FRAMES
      : [namedFrame('content_block_delta', { ...raw, index: this.open.index })];
  }

  /** A citation may precede the text that it belongs to. */
  private citation(delta: JsonObject): readonly string[] {
    const { output_index, content_index = 0 } = this.lastCited ?? this.open ?? { output_index: 0 };
    const { open } = this;
    this.citedItems.add(output_index);
    const isOpen =
      open !== undefined &&
      open.kind === 'text' &&
      open.output_index === output_index &&
      open.content_index === content_index;
    const { frames, block } = isOpen
      ? { frames: NO_FRAMES, block: open }
      : this.openBlock('text', output_index, content_index);
    return [...frames, blockDelta(block.index, delta)];
  }
}

const MESSAGE_STOP: readonly string[] = [namedFrame('message_stop', { type: 'message_stop' })];

function textFrame({ beforeText }: OpenBlock, text: string): string {
  return `${beforeText}${JSON.stringify(text)}}}\n\n`;
}

function blockStart(index: number, content_block: JsonObject): string {
  return namedFrame('content_block_start', { type: 'content_block_start', index, content_block });
}

function blockDelta(index: number, delta: JsonObject): string {
  return namedFrame('content_block_delta', { type: 'content_block_delta', index, delta });
}

function blockStop(index: number): string {
  return namedFrame('content_block_stop', { type: 'content_block_stop', index });
}
