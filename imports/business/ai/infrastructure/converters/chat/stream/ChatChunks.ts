/**
 * Domain events as chunks of a chat completion: for the loop beside every relayed stream, and for clients that
 * speak this wire.
 */
import { finishWord } from '../gateway/ChatCompletionsGateway';
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
import type { EncoderFacts } from '../../stream/StreamEncoder';
import { DeltaBackfill } from '../../stream/DeltaBackfill';

type ChunkHead = Pick<OpenAIChunk, 'id' | 'object' | 'created' | 'model'>;

const NO_CHUNKS: readonly OpenAIChunk[] = [];

export class ChatChunks {
  private readonly facts: EncoderFacts;
  private readonly told = new DeltaBackfill();
  private readonly remainder = new PassthroughFields();
  private known: ChunkHead;
  private nothing: OpenAIChunk | undefined;
  private begun = false;
  /** What the host said before it named the answer, as Azure does. */
  private readonly early: JsonObject[] = [];
  private calls = 0;
  private summary = 0;

  constructor(facts: EncoderFacts) {
    this.facts = facts;
    this.known = { id: facts.id, object: 'chat.completion.chunk', created: facts.created, model: facts.model };
  }

  /** What all chunks begin with, once the first has gone out. */
  get head(): ChunkHead | undefined {
    return this.begun ? this.known : undefined;
  }

  /** A chunk that says nothing. */
  get empty(): OpenAIChunk {
    this.nothing ??= this.chunk({});
    return this.nothing;
  }

  /** For whoever writes a delta's chunk without this class. */
  note({ output_index }: { readonly output_index: number }): void {
    this.told.note(output_index);
  }

  push(event: ResponseStreamEvent): readonly OpenAIChunk[] {
    switch (event.type) {
      case 'response.output_text.delta':
        this.told.note(event.output_index);
        return this.say({ content: event.delta });
      case 'response.reasoning.delta':
        this.told.note(event.output_index);
        return this.say({ [this.facts.reasoningField ?? 'reasoning_content']: this.reasoning(event) });
      case 'response.refusal.delta':
        this.told.note(event.output_index);
        return this.say({ refusal: event.delta });
      case 'response.annotation.added':
        return this.say({ annotations: [toChatAnnotation(event.annotation)] });
      case 'response.created':
        this.known = { ...this.known, id: event.id === '' ? this.known.id : event.id, model: event.model };
        this.nothing = undefined;
        return this.begin();
      case 'response.tool_use.announced':
        if (this.facts.emitFunctionAnnouncements !== true) return NO_CHUNKS;
        // Clients hand every frame's data to their chunk reader, so what they don't know must be a chunk that says
        // nothing.
        return [...this.begin(), { ...this.chunk({}), tool_use_announced: { id: event.call_id, name: event.name } }];
      case 'response.tool_use.done':
        return this.call(event.item);
      case 'response.output_item.done':
        return this.item(event.output_index, event.item);
      case 'vendor.event':
        return event.origin.wire === 'chat_completions' ? this.vendorChunk(event.raw) : NO_CHUNKS;
      case 'response.completed':
        return [...this.begin(), ...this.finish(event.response)];
      case 'response.output_item.added':
      case 'response.usage':
      case 'response.failed':
      case 'wire.message':
        return NO_CHUNKS;
    }
  }

  private say(delta: ChunkDelta): readonly OpenAIChunk[] {
    return this.begun ? [this.chunk(delta)] : [...this.begin(), this.chunk(delta)];
  }

  private begin(): readonly OpenAIChunk[] {
    if (this.begun) return NO_CHUNKS;
    this.begun = true;
    return [
      this.chunk({ role: 'assistant', content: '' }),
      ...this.early.map((raw) => this.remainder.relayChunk(raw, this.known)),
    ];
  }

  private vendorChunk(raw: JsonObject): readonly OpenAIChunk[] {
    if (this.begun) return [this.remainder.relayChunk(raw, this.known)];
    this.early.push(raw);
    return NO_CHUNKS;
  }

  private chunk(delta: ChunkDelta, finish_reason: string | null = null): OpenAIChunk {
    const { id, object, created, model } = this.known;
    return { id, object, created, model, choices: [{ index: 0, delta, finish_reason }] };
  }

  /** Parts of a summary are paragraphs, here as in an answer without streaming. */
  private reasoning(event: Extract<ResponseStreamEvent, { readonly type: 'response.reasoning.delta' }>): string {
    const part = event.summary ? (event.content_index ?? 0) : 0;
    const isNext = part > this.summary;
    this.summary = part;
    return isNext ? `\n\n${event.delta}` : event.delta;
  }

  private item(output_index: number, item: OutputItem): readonly OpenAIChunk[] {
    if (item.type === 'function_call') return NO_CHUNKS;
    if (isCallItem(item)) return this.call(item);
    if (item.type === 'vendor_item')
      return item.origin.wire === 'chat_completions' ? this.say({ executed_tools: [item.item] }) : NO_CHUNKS;
    return this.told.missingDeltas(output_index, item).flatMap((delta) => this.push(delta));
  }

  private call(item: CallItem): readonly OpenAIChunk[] {
    if (item.type === 'function_call' && isLegacy(item))
      return this.say({ function_call: { name: item.name, arguments: argumentsOrEmpty(item) } });
    const index = this.calls;
    this.calls += 1;
    return this.say({ tool_calls: [toolCallDelta(item, index)] });
  }

  private finish(response: LLMResponse): readonly OpenAIChunk[] {
    const { wire, finish_reason, usage } = response.vendor;
    const isOwn = wire === 'chat_completions';
    const word = (isOwn ? finish_reason : null) ?? finishWord(response, this.calls > 0);
    const last = this.chunk({}, word);
    return [
      isOwn ? this.remainder.finish(last, response, this.facts.relayToolUseEvents !== false) : last,
      { ...this.known, choices: [], usage: isOwn && usage !== undefined ? usage : toChatUsage(response.usage) },
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
