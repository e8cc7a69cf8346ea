/**
 * The output of a Responses stream, item by item: one after another, each closed as its deltas told it, whatever
 * order the source ends them in.
 */
import type {
  FunctionCallItem,
  MessageItem,
  OutputItem,
  ReasoningItem,
} from '../../../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../../domain/types/StreamEvents';
import type { JsonObject } from '../../../../domain/types/VendorTypes';
import { OpenItem } from './OpenItem';
import { initialForm, isOwnHostedItem, streamItem } from './responsesItems';
import type { PartKind } from './responsesParts';
import type { SequencedFrames } from './SequencedFrames';
import { NO_FRAMES } from '../../stream/StreamEncoder';
import type { StreamEncoderOptions } from '../../stream/StreamEncoder';

export type TextEvent = Extract<ResponseStreamEvent, { readonly delta: string }>;

export class OutputItemFrames {
  private readonly frames: SequencedFrames;
  private readonly options: Pick<StreamEncoderOptions, 'emitFunctionAnnouncements' | 'rawReasoningName'>;
  /** Ids of items are made of the response's. */
  private readonly responseId: () => string;
  /** The message or reasoning item that deltas are arriving for. */
  private open: OpenItem | undefined;
  /** Such items by the source's place for them, open or closed. */
  private readonly streamedItems = new Map<number, OpenItem>();
  /** Places in this stream by the source's. */
  private readonly outputIndexes = new Map<number, number>();
  /** A call that was announced. */
  private announced: { readonly call_id: string; readonly form: JsonObject; readonly output_index: number } | undefined;
  /** Items that came whole while another one was open. */
  private queued: OutputItem[] = [];
  private nextIndex = 0;
  /** By their place in this stream; an item that never closed leaves its place empty. */
  private readonly closed: (JsonObject | undefined)[] = [];

  constructor(
    frames: SequencedFrames,
    options: Pick<StreamEncoderOptions, 'emitFunctionAnnouncements' | 'rawReasoningName'>,
    responseId: () => string,
  ) {
    this.frames = frames;
    this.options = options;
    this.responseId = responseId;
  }

  start(output_index: number, item: OutputItem): readonly string[] {
    if (item.type === 'message' || item.type === 'reasoning') return this.openItem(output_index, item);
    if (item.type === 'function_call')
      return this.options.emitFunctionAnnouncements === true ? this.announce(item) : NO_FRAMES;
    if (!isOwnHostedItem(item)) return NO_FRAMES;
    const index = this.assignIndex(output_index);
    return [
      this.frames.frame('response.output_item.added', {
        output_index: index,
        item: streamItem(item, this.responseId(), index),
      }),
    ];
  }

  delta(kind: PartKind, event: TextEvent): readonly string[] {
    const { output_index, content_index = 0, delta } = event;
    const item = this.streamedItems.get(output_index);
    if (item !== undefined && item === this.open) return item.delta(kind, content_index, delta);
    const emptyItem: MessageItem | ReasoningItem =
      kind === 'output_text' || kind === 'refusal'
        ? { type: 'message', role: 'assistant', content: [] }
        : { type: 'reasoning', summary: [] };
    const frames = this.openItem(output_index, emptyItem);
    return [...frames, ...(this.open?.delta(kind, content_index, delta) ?? NO_FRAMES)];
  }

  /** An item that the source has finished. */
  finish(output_index: number, item: OutputItem): readonly string[] {
    switch (item.type) {
      case 'function_call':
        return NO_FRAMES;
      case 'message':
      case 'reasoning':
        return this.finishStreamed(output_index, item);
      default:
        return isOwnHostedItem(item) ? this.finishHosted(output_index, item) : this.addComplete(item);
    }
  }

  /** An item that comes in one piece: at once, or when the one that is open has closed. */
  addComplete(item: OutputItem): readonly string[] {
    const { announced } = this;
    const isAnnounced = announced !== undefined && item.type === 'function_call' && item.call_id === announced.call_id;
    if (!isAnnounced && (this.open !== undefined || announced !== undefined)) {
      this.queued.push(item);
      return NO_FRAMES;
    }
    const output_index = isAnnounced ? announced.output_index : this.nextIndex;
    if (isAnnounced) this.announced = undefined;
    else this.nextIndex += 1;
    const form = {
      ...streamItem(item, this.responseId(), output_index),
      ...(isAnnounced ? { id: announced.form.id } : {}),
    };
    this.closed[output_index] = form;
    return [
      ...(isAnnounced
        ? NO_FRAMES
        : [this.frames.frame('response.output_item.added', { output_index, item: initialForm(form) })]),
      ...(item.type === 'function_call' ? this.argumentFrames(item, form, output_index) : NO_FRAMES),
      this.frames.frame('response.output_item.done', { output_index, item: form }),
      ...this.flushQueue(),
    ];
  }

  annotate(output_index: number, content_index: number, annotation: JsonObject): void {
    this.streamedItems.get(output_index)?.annotate(content_index, annotation);
  }

  /** Closes what the source left open. */
  end(): readonly string[] {
    return [...this.closeOpen(undefined), ...this.closeAnnouncedCall()];
  }

  /** The items that have closed, in order. */
  get output(): readonly JsonObject[] {
    return this.closed.filter((item) => item !== undefined);
  }

  /** This stream's place of an item of the source's. */
  outputIndexOf(output_index: number): number | undefined {
    return this.outputIndexes.get(output_index);
  }

  /**
   * Clients know a call that begins from its item; of several at once the first is told, since items come one after
   * another.
   */
  private announce(call: FunctionCallItem): readonly string[] {
    if (this.announced !== undefined) return NO_FRAMES;
    const frames = this.closeOpen(undefined);
    const output_index = this.nextIndex;
    this.nextIndex += 1;
    const form = streamItem(call, this.responseId(), output_index);
    this.announced = { call_id: call.call_id, form, output_index };
    return [...frames, this.frames.frame('response.output_item.added', { output_index, item: initialForm(form) })];
  }

  /** The answer was cut short within the call, whose arguments nobody gets. */
  private closeAnnouncedCall(): readonly string[] {
    if (this.announced === undefined) return NO_FRAMES;
    const { form, output_index } = this.announced;
    const item = { ...form, arguments: '', status: 'incomplete' };
    this.announced = undefined;
    this.closed[output_index] = item;
    return [this.frames.frame('response.output_item.done', { output_index, item })];
  }

  /** Begins an item; the one before it ends, even if the source ends it later. */
  private openItem(output_index: number, item: MessageItem | ReasoningItem): readonly string[] {
    const frames = this.closeOpen(undefined);
    const index = this.assignIndex(output_index);
    const form = streamItem(item, this.responseId(), index);
    this.open = new OpenItem(
      item.type === 'reasoning' ? initialForm(form) : form,
      index,
      this.frames,
      this.options.rawReasoningName,
    );
    this.streamedItems.set(output_index, this.open);
    return [...frames, this.open.start()];
  }

  private assignIndex(output_index: number): number {
    const index = this.nextIndex;
    this.nextIndex += 1;
    this.outputIndexes.set(output_index, index);
    return index;
  }

  private finishStreamed(output_index: number, item: MessageItem | ReasoningItem): readonly string[] {
    const known = this.streamedItems.get(output_index);
    const frames = known === undefined ? this.openItem(output_index, item) : NO_FRAMES;
    const streamed = known ?? this.open;
    if (streamed === undefined) return frames;
    const form = streamItem(item, this.responseId(), streamed.output_index);
    const final = { ...form, id: streamed.form.id };
    if (streamed === this.open) return [...frames, ...this.closeOpen(final)];
    // It has closed before its seal was known; the whole response is the last place to tell it.
    const { encrypted_content } = final as JsonObject;
    const closed = this.closed[streamed.output_index];
    if (closed !== undefined && encrypted_content !== undefined)
      this.closed[streamed.output_index] = { ...closed, encrypted_content };
    return frames;
  }

  private finishHosted(output_index: number, item: OutputItem): readonly string[] {
    const known = this.outputIndexes.get(output_index);
    const frames = known === undefined ? this.start(output_index, item) : NO_FRAMES;
    const index = known ?? this.outputIndexes.get(output_index) ?? 0;
    const form = streamItem(item, this.responseId(), index);
    this.closed[index] = form;
    return [...frames, this.frames.frame('response.output_item.done', { output_index: index, item: form })];
  }

  private closeOpen(final: JsonObject | undefined): readonly string[] {
    const { open } = this;
    if (open === undefined) return NO_FRAMES;
    this.open = undefined;
    const { frames, item } = open.finish(final);
    this.closed[open.output_index] = item;
    return [...frames, ...this.flushQueue()];
  }

  private flushQueue(): readonly string[] {
    const { queued } = this;
    if (queued.length === 0) return NO_FRAMES;
    this.queued = [];
    return queued.flatMap((item) => this.addComplete(item));
  }

  private argumentFrames({ name }: FunctionCallItem, form: JsonObject, output_index: number): readonly string[] {
    const location = { item_id: form.id, output_index };
    return [
      this.frames.frame('response.function_call_arguments.delta', { ...location, delta: form.arguments }),
      this.frames.frame('response.function_call_arguments.done', { ...location, name, arguments: form.arguments }),
    ];
  }
}
