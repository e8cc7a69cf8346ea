/**
 * Decodes a stream of the Messages API to domain events.
 * https://platform.claude.com/docs/en/build-with-claude/streaming
 */
import { LLMStreamError } from '../../../../domain/errors/LLMErrors';
import { vendorError } from '../../../../domain/errors/vendorErrors';
import { isObject } from '../../../../domain/util/json';
import { omitUndefined } from '../../../../domain/util/omitUndefined';
import { blockContext, fromAnthropic } from '../AnthropicConverter';
import { assistantMessage, toOutputItem, isResponseToolCall, streamsAsText, toOutputPart } from '../response/blocks';
import { toAnnotation } from '../response/citations';
import { outcomeOf, toUsage } from '../response/outcome';
import { addText, addUnknownDelta, AnthropicMessageAssembly } from './AnthropicMessageAssembly';
import type { OutputItem, OutputText } from '../../../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../../domain/types/StreamEvents';
import type { JsonObject } from '../../../../domain/types/VendorTypes';
import type { BlockContext } from '../response/blocks';
import type { OpenBlock } from './AnthropicMessageAssembly';
import type { ResponseContext, SseMessage, StreamDecoder } from '../../Wire';

export function createAnthropicDecoder(context: ResponseContext): StreamDecoder {
  return new AnthropicDecoder(context);
}

/** Adjacent text blocks are parts of one message, which ends when another type of block starts or the response ends. */
interface OpenMessage {
  readonly index: number;
  readonly parts: OutputText[];
}

type CallEvent = Extract<ResponseStreamEvent, { readonly type: 'response.tool_use.done' }>;

class AnthropicDecoder implements StreamDecoder {
  private readonly context: ResponseContext;
  private assembly: AnthropicMessageAssembly | undefined;
  private blocks: BlockContext;
  private message: OpenMessage | undefined;
  private nextIndex = 0;
  /** Calls whose arguments are not JSON: cut off by the token limit, or written so by the model. */
  private readonly malformed: CallEvent[] = [];
  private state: 'open' | 'completed' | 'broken' = 'open';

  constructor(context: ResponseContext) {
    this.context = context;
    this.blocks = blockContext(context, context.model);
  }

  push(message: SseMessage, out: ResponseStreamEvent[]): void {
    if (this.state === 'completed') return;
    if (this.state === 'broken')
      throw new LLMStreamError('The stream continued after an error.', { vendor: this.context.vendor });
    try {
      this.dispatch(parseEvent(message), out);
    } catch (error) {
      this.state = 'broken';
      throw error;
    }
  }

  end(): void {
    if (this.state === 'completed') return;
    throw new LLMStreamError('The stream ended without message_stop, so the response is incomplete.', {
      vendor: this.context.vendor,
    });
  }

  private dispatch(event: JsonObject, out: ResponseStreamEvent[]): void {
    switch (event.type) {
      case 'content_block_delta':
        this.applyDelta(event, out);
        return;
      case 'content_block_start':
        this.startBlock(event, out);
        return;
      case 'content_block_stop':
        this.stopBlock(event.index, out);
        return;
      case 'message_start':
        this.startMessage(event, out);
        return;
      case 'message_delta':
        this.updateMessage(event, out);
        return;
      case 'message_stop':
        this.complete(out);
        return;
      case 'ping':
        return;
      case 'error':
        throw vendorError({ vendor: this.context.vendor, body: event, requestId: this.context.requestId });
      default:
        out.push({ type: 'vendor.event', origin: this.blocks.origin, raw: event });
    }
  }

  private startMessage({ message }: JsonObject, out: ResponseStreamEvent[]): void {
    if (!isObject(message) || typeof message.id !== 'string')
      throw new LLMStreamError('The message_start event has no message with an id.');
    if (this.assembly !== undefined) {
      // Some vendors send message_start twice.
      if (this.assembly.message.id === message.id) return;
      throw new LLMStreamError('The stream started a second message inside the first.');
    }
    const model = typeof message.model === 'string' ? message.model : this.context.model;
    this.assembly = new AnthropicMessageAssembly(message);
    this.blocks = blockContext(this.context, model, this.assembly.inputTexts);
    out.push({ type: 'response.created', id: message.id, model });
    this.emitUsage(out);
    // A turn that continues after server tools may start with complete blocks.
    if (!Array.isArray(message.content)) return;
    message.content.forEach((block: unknown, index) => {
      const key = `complete ${index}`;
      this.startBlock({ index: key, content_block: block }, out);
      this.stopBlock(key, out);
    });
  }

  private requireAssembly(): AnthropicMessageAssembly {
    if (this.assembly === undefined) throw new LLMStreamError('The stream sent content before message_start.');
    return this.assembly;
  }

  private startBlock({ index, content_block }: JsonObject, out: ResponseStreamEvent[]): void {
    if (!isObject(content_block)) throw new LLMStreamError('A content_block_start event has no content block.');
    const open = this.requireAssembly().startBlock(index, content_block);
    const { block } = open;
    if (block.type === 'text' || isResponseToolCall(block, this.blocks)) {
      this.message ??= this.openMessage(out);
      open.outputIndex = this.message.index;
      if (typeof block.text === 'string' && block.text !== '')
        out.push({
          type: 'response.output_text.delta',
          output_index: this.message.index,
          delta: block.text,
          ...contentIndexOf(this.message),
        });
      return;
    }
    this.closeMessage('completed', out);
    const output_index = this.nextIndex;
    this.nextIndex += 1;
    open.outputIndex = output_index;
    const item = initialItem(toOutputItem(block, this.blocks));
    out.push({ type: 'response.output_item.added', output_index, item });
    if (item.type === 'function_call')
      out.push({ type: 'response.tool_use.announced', output_index, call_id: item.call_id, name: item.name });
  }

  private applyDelta({ index, delta }: JsonObject, out: ResponseStreamEvent[]): void {
    const open = this.requireAssembly().requireOpen(index);
    const output_index = open.outputIndex;
    if (!isObject(delta)) throw new LLMStreamError('A content_block_delta event has no delta.');
    switch (delta.type) {
      case 'text_delta': {
        const piece = textField(delta, 'text');
        addText(open, 'text', piece);
        out.push({ type: 'response.output_text.delta', output_index, delta: piece, ...contentIndexOf(this.message) });
        return;
      }
      case 'input_json_delta': {
        const piece = textField(delta, 'partial_json');
        (open.input ??= []).push(piece);
        if (piece !== '') this.emitInput(open, piece, out);
        return;
      }
      case 'thinking_delta': {
        const piece = textField(delta, 'thinking');
        addText(open, 'thinking', piece);
        out.push({ type: 'response.reasoning.delta', output_index, delta: piece, summary: false });
        return;
      }
      case 'signature_delta':
        open.block.signature = textField(delta, 'signature');
        return;
      case 'citations_delta':
        open.block.citations = [
          ...(Array.isArray(open.block.citations) ? (open.block.citations as unknown[]) : []),
          delta.citation,
        ];
        out.push({
          type: 'response.annotation.added',
          output_index,
          annotation: toAnnotation(delta.citation),
          ...contentIndexOf(this.message),
        });
        // The original delta, for clients of the same wire.
        out.push({
          type: 'vendor.event',
          origin: this.blocks.origin,
          raw: { type: 'content_block_delta', index, delta },
        });
        return;
      default:
        addUnknownDelta(open, delta);
        out.push({
          type: 'vendor.event',
          origin: this.blocks.origin,
          raw: { type: 'content_block_delta', index, delta },
        });
    }
  }

  private emitInput({ block, outputIndex: output_index }: OpenBlock, delta: string, out: ResponseStreamEvent[]): void {
    if (streamsAsText(block, this.blocks))
      out.push({ type: 'response.output_text.delta', output_index, delta, ...contentIndexOf(this.message) });
    else if (this.context.streamArguments === true && block.type === 'tool_use' && typeof block.name === 'string')
      out.push({
        type: 'response.tool_use.delta',
        output_index,
        call_id: String(block.id),
        name: block.name,
        delta,
      });
  }

  private stopBlock(index: unknown, out: ResponseStreamEvent[]): void {
    const assembly = this.requireAssembly();
    const open = assembly.stopBlock(index);
    const output_index = open.outputIndex;
    const written = streamsAsText(open.block, this.blocks) ? (open.input?.join('') ?? '') : '';
    if (written.trim() !== '') assembly.inputTexts.set(open.block, written);
    const part = toOutputPart(open.block, this.blocks);
    if (part !== undefined) {
      // A wrapped value can be taken out of the response tool's input only once that is complete.
      if (open.block.type === 'tool_use' && written.trim() === '')
        out.push({
          type: 'response.output_text.delta',
          output_index,
          delta: part.text,
          ...contentIndexOf(this.message),
        });
      this.message?.parts.push(part);
      return;
    }
    const item = toOutputItem(open.block, this.blocks);
    if (item.type === 'function_call') {
      const call: CallEvent = { type: 'response.tool_use.done', output_index, item };
      (item.status === 'incomplete' ? this.malformed : out).push(call);
    }
    out.push({ type: 'response.output_item.done', output_index, item });
  }

  private openMessage(out: ResponseStreamEvent[]): OpenMessage {
    const message: OpenMessage = { index: this.nextIndex, parts: [] };
    this.nextIndex += 1;
    out.push({
      type: 'response.output_item.added',
      output_index: message.index,
      item: assistantMessage([], 'in_progress'),
    });
    return message;
  }

  private closeMessage(status: 'completed' | 'incomplete', out: ResponseStreamEvent[]): void {
    if (this.message === undefined) return;
    const { index, parts } = this.message;
    this.message = undefined;
    out.push({ type: 'response.output_item.done', output_index: index, item: { ...assistantMessage(parts), status } });
  }

  private updateMessage(event: JsonObject, out: ResponseStreamEvent[]): void {
    const assembly = this.requireAssembly();
    assembly.update(event);
    const { message } = assembly;
    if (typeof message.stop_reason === 'string') {
      this.closeMessage(
        outcomeOf(message.stop_reason, []).reason === 'max_output_tokens' ? 'incomplete' : 'completed',
        out,
      );
    }
    if (isObject(event.usage)) this.emitUsage(out);
  }

  private emitUsage(out: ResponseStreamEvent[]): void {
    const usage = this.assembly?.message.usage;
    if (isObject(usage)) out.push({ type: 'response.usage', usage: toUsage(usage) });
  }

  private complete(out: ResponseStreamEvent[]): void {
    const assembly = this.requireAssembly();
    const { unfinished } = assembly;
    if (unfinished !== '') throw new LLMStreamError(`The stream ended inside content block ${unfinished}.`);
    const response = fromAnthropic(assembly.message, this.context, assembly.inputTexts);
    this.closeMessage('completed', out);
    if (response.status === 'completed') out.push(...this.malformed);
    out.push({ type: 'response.completed', response });
    this.state = 'completed';
  }
}

const FIRST_PART: { readonly content_index?: number } = {};

/** The content index of the open text block, omitted for a message's first part, which is by far the most common. */
function contentIndexOf(message: OpenMessage | undefined): { readonly content_index?: number } {
  return message === undefined || message.parts.length === 0 ? FIRST_PART : { content_index: message.parts.length };
}

/** @throws LLMStreamError unless the data is a JSON object */
function parseEvent({ data }: SseMessage): JsonObject {
  let event: unknown;
  try {
    event = JSON.parse(data);
  } catch (cause) {
    throw new LLMStreamError('The stream contains an event that is not JSON.', { cause });
  }
  if (!isObject(event)) throw new LLMStreamError('The stream contains an event that is not a JSON object.');
  return event;
}

function textField(delta: JsonObject, field: string): string {
  const value = delta[field];
  if (typeof value !== 'string') throw new LLMStreamError(`A delta of type "${String(delta.type)}" has no "${field}".`);
  return value;
}

/** The item before any of its content has arrived. */
function initialItem(item: OutputItem): OutputItem {
  if (item.type === 'function_call') return { ...item, arguments: '', status: 'in_progress' };
  if (item.type === 'reasoning') return omitUndefined({ type: 'reasoning', summary: [], origin: item.origin });
  return item;
}
