/**
 * Writes the output items of a Responses stream strictly one after another, whatever order the source sends them in.
 * https://platform.openai.com/docs/api-reference/responses-streaming
 */
import type {
  FunctionCallItem,
  ItemStatus,
  MessageItem,
  OutputItem,
  ReasoningItem,
} from '../../../../domain/types/ResponsesAPITypes';
import type { TextDelta } from '../../../../domain/types/StreamEvents';
import type { JsonObject } from '../../../../domain/types/VendorTypes';
import { OpenItem } from './OpenItem';
import { initialForm, isOwnHostedItem, streamItem } from './responsesItems';
import type { PartKind } from './responsesParts';
import type { SequencedFrames } from './SequencedFrames';
import { NO_FRAMES } from '../../stream/StreamEncoder';
import type { StreamEncoderOptions } from '../../stream/StreamEncoder';

export class OutputItemFrames {
  private readonly frames: SequencedFrames;
  private readonly options: Pick<StreamEncoderOptions, 'emitFunctionAnnouncements' | 'rawReasoningName'>;
  /** Item ids are derived from the response id. */
  private readonly responseId: () => string;
  /** The message or reasoning item that is receiving deltas. */
  private open: OpenItem | undefined;
  /** All message and reasoning items so far, open or closed, by their index in the source stream. */
  private readonly streamedItems = new Map<number, OpenItem>();
  /** Indexes in this stream by those in the source stream. */
  private readonly outputIndexes = new Map<number, number>();
  /** The call that was announced and has not closed. */
  private announced: { readonly call_id: string; readonly form: JsonObject; readonly output_index: number } | undefined;
  /** Complete items that arrived while another one was open. */
  private queued: OutputItem[] = [];
  private nextIndex = 0;
  /** By their index in this stream; an item that never closed leaves a hole. */
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

  delta(kind: PartKind, event: TextDelta): readonly string[] {
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

  /** Handles an item that the source has completed. */
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

  /** Writes a complete item, now or as soon as the open one has closed. */
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
      ...this.callFrames(item, form, output_index),
      this.frames.frame('response.output_item.done', { output_index, item: form }),
      ...this.flushQueue(),
    ];
  }

  annotate(output_index: number, content_index: number, annotation: JsonObject): void {
    this.streamedItems.get(output_index)?.annotate(content_index, annotation);
  }

  /** Closes what the source left open. @param status of a message or reasoning */
  end(status: ItemStatus = 'completed'): readonly string[] {
    return [...this.closeOpen(undefined, status), ...this.closeAnnouncedCall()];
  }

  /** The closed items, in order. */
  get output(): readonly JsonObject[] {
    return this.closed.filter((item) => item !== undefined);
  }

  /** The index in this stream of an item of the source stream. */
  outputIndexOf(output_index: number): number | undefined {
    return this.outputIndexes.get(output_index);
  }

  /**
   * Announces a call by starting its item. Of several parallel calls only the first is announced, because only one
   * item can be open at a time.
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

  /** Closes a call that was truncated, without its partial arguments. */
  private closeAnnouncedCall(): readonly string[] {
    if (this.announced === undefined) return NO_FRAMES;
    const { form, output_index } = this.announced;
    const item = { ...form, arguments: '', status: 'incomplete' };
    this.announced = undefined;
    this.closed[output_index] = item;
    return [this.frames.frame('response.output_item.done', { output_index, item })];
  }

  /** Starts an item and closes the one before it, even if the source completes that one later. */
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
    // The item closed before its encrypted content arrived, which now fits only into the completed response.
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

  private closeOpen(final: JsonObject | undefined, status?: ItemStatus): readonly string[] {
    const { open } = this;
    if (open === undefined) return NO_FRAMES;
    this.open = undefined;
    const { frames, item } = open.finish(final, status);
    this.closed[open.output_index] = item;
    return [...frames, ...this.flushQueue()];
  }

  private flushQueue(): readonly string[] {
    const { queued } = this;
    if (queued.length === 0) return NO_FRAMES;
    this.queued = [];
    return queued.flatMap((item) => this.addComplete(item));
  }

  /** What a call is to be made with, in one piece. */
  private callFrames(item: OutputItem, form: JsonObject, output_index: number): readonly string[] {
    const location = { item_id: form.id, output_index };
    switch (item.type) {
      case 'function_call':
        return [
          this.frames.frame('response.function_call_arguments.delta', { ...location, delta: form.arguments }),
          this.frames.frame('response.function_call_arguments.done', {
            ...location,
            name: item.name,
            arguments: form.arguments,
          }),
        ];
      case 'custom_tool_call':
        return [
          this.frames.frame('response.custom_tool_call_input.delta', { ...location, delta: form.input }),
          this.frames.frame('response.custom_tool_call_input.done', { ...location, input: form.input }),
        ];
      default:
        return NO_FRAMES;
    }
  }
}
