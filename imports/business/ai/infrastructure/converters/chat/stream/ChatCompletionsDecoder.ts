/**
 * Decodes a chat completion stream into domain events. The chunks are also assembled into a completion, so that the
 * final response equals the one the same request gets without streaming.
 * https://platform.openai.com/docs/api-reference/chat-streaming
 */
import { ChatCompletionAssembly } from './chatCompletionAssembly';
import type { ChoiceAssembly } from './chatCompletionAssembly';
import type { PartialCall } from './ToolCallFragments';
import { OutputIndexes } from './OutputIndexes';
import { fromChatCompletions } from '../ChatCompletionsConverter';
import { fromChatAnnotation } from '../annotations';
import { REASONING_FIELDS } from '../response/assistantItems';
import { thoughtText } from '../thoughts';
import { isText } from '../vendorFields';
import { quirksOfModel } from '../../shared/quirksOfModel';
import {
  completionItems,
  describeBody,
  generatedCallId,
  invalidCompletion,
  isFiltered,
  parseCompletion,
  responseIdOf,
  throwIfError,
} from '../response/completion';
import { fromChatUsage } from '../usage';
import type { ResponseContext, SseMessage, StreamDecoder } from '../../Wire';
import { LLMStreamError } from '../../../../domain/errors/LLMErrors';
import { vendorError } from '../../../../domain/errors/vendorErrors';
import { fieldsOf, isList, isObject } from '../../../../domain/util/json';
import type { OutputItem } from '../../../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../../domain/types/StreamEvents';
import type { JsonObject, Origin, VendorQuirks } from '../../../../domain/types/VendorTypes';

/** The wire's end marker. */
const DONE = '[DONE]';
/**
 * Fields of a delta that domain events represent, and the details of OpenRouter's reasoning, whose pieces mostly come
 * beside its text: they are whole in the response. https://openrouter.ai/docs/use-cases/reasoning-tokens
 */
const MAPPED_FIELDS: ReadonlySet<string> = new Set([
  'role',
  'content',
  'refusal',
  'tool_calls',
  'function_call',
  'annotations',
  'channel',
  'reasoning_details',
  ...REASONING_FIELDS,
]);

export class ChatCompletionsDecoder implements StreamDecoder {
  private readonly context: ResponseContext;
  private readonly quirks: VendorQuirks;
  private readonly origin: Origin;
  private readonly assembly = new ChatCompletionAssembly();
  private readonly indexes = new OutputIndexes((index, out) => this.endReasoning(index, out));
  /** The reasoning as it was when the item after it began. */
  private endedReasoning: OutputItem | undefined;
  /** How many pieces of each call's arguments were emitted. */
  private readonly emitted = new Map<PartialCall, number>();
  private isCreated = false;
  private hasUsage = false;
  private isDone = false;

  constructor(context: ResponseContext) {
    this.context = context;
    this.quirks = quirksOfModel(context.quirks, context.model);
    this.origin = { wire: 'chat_completions', vendor: context.vendor, model: context.model };
  }

  push(message: SseMessage, out: ResponseStreamEvent[]): void {
    if (this.isDone) return;
    const data = message.data.trim();
    if (data === '') return;
    if (data === DONE) this.finish(out);
    else this.addChunk(this.parse(data, message.event), out);
  }

  end(out: ResponseStreamEvent[]): void {
    const isWhole = this.hasUsage && isText(this.assembly.firstChoice?.finishReason);
    if (!this.isDone && isWhole && this.quirks.allowsMissingEndMarker === true) this.finish(out);
    if (this.isDone) return;
    const advice = isWhole ? `. If this host never sends it, set its provider's quirk "allowsMissingEndMarker"` : '';
    throw this.incomplete(`the stream ended without the end marker [DONE]${advice}`);
  }

  private parse(data: string, event: string | undefined): JsonObject {
    let chunk: unknown;
    try {
      chunk = JSON.parse(data);
    } catch (cause) {
      if (event === 'error') throw this.vendorFailure(data);
      throw invalidCompletion(`a chunk is not JSON but ${describeBody(data)}`, this.context, cause);
    }
    // Gemini's compatible endpoint wraps an error in a list.
    if (isList(chunk) && isObject(chunk[0])) throwIfError(chunk[0], this.context);
    if (!isObject(chunk)) throw invalidCompletion(`a chunk is ${describeBody(chunk)}`, this.context);
    throwIfError(chunk, this.context);
    if (event === 'error') throw this.vendorFailure(chunk);
    // Groq reports here why it stopped early.
    if (isObject(chunk.x_groq) && isText(chunk.x_groq.error)) throw this.vendorFailure({ error: chunk.x_groq.error });
    return chunk;
  }

  private addChunk(chunk: JsonObject, out: ResponseStreamEvent[]): void {
    this.assembly.addChunk(chunk);
    const { choices } = chunk;
    const usage = usageIn(chunk);
    let isUnmapped = usage === undefined && !(isList(choices) && choices.length > 0);
    if (isList(choices)) {
      for (const choice of choices) if (isObject(choice) && this.addChoice(choice, out)) isUnmapped = true;
    }
    this.hasUsage ||= usage !== undefined;
    if (usage !== undefined) out.push({ type: 'response.usage', usage: fromChatUsage(usage, this.quirks) });
    if (isUnmapped) this.emitVendorEvent(chunk, out);
  }

  /** @returns whether the choice has content, but only content that no domain event represents */
  private addChoice(raw: JsonObject, out: ResponseStreamEvent[]): boolean {
    throwIfError(raw, this.context);
    const choice = this.assembly.choiceAt(typeof raw.index === 'number' ? raw.index : 0);
    this.create(out);
    choice.addFields(raw);
    const delta = choice.deltaOf(raw);
    if (delta === undefined) return false;
    choice.addDelta(delta);
    // Other choices are ignored, as they are without streaming.
    if (choice.index !== 0) return false;
    const firstEvent = out.length;
    this.emitDelta(delta, out);
    for (const call of choice.calls.calls) this.emitCall(call, choice, out);
    if (choice.legacyCall !== undefined) this.emitCall(choice.legacyCall, choice, out);
    const isUnmapped = out.length === firstEvent && hasUnmappedFields(delta);
    this.indexes.executedTools(choice.executedTools, this.origin, out);
    return isUnmapped;
  }

  private create(out: ResponseStreamEvent[]): void {
    if (this.isCreated) return;
    this.isCreated = true;
    const { id, model } = this.assembly;
    out.push({
      type: 'response.created',
      id: responseIdOf(id, this.context),
      model: isText(model) ? model : this.context.model,
    });
  }

  private emitDelta(delta: JsonObject, out: ResponseStreamEvent[]): void {
    this.emitReasoning(isText(delta.reasoning_content) ? delta.reasoning_content : delta.reasoning, out);
    const { content, refusal, annotations } = delta;
    if (isText(content))
      out.push({ type: 'response.output_text.delta', output_index: this.indexes.message(out), delta: content });
    else if (isList(content)) this.emitParts(content, out);
    if (isText(refusal))
      out.push({ type: 'response.refusal.delta', output_index: this.indexes.message(out), delta: refusal });
    if (!isList(annotations)) return;
    for (const annotation of annotations) {
      if (isObject(annotation))
        out.push({
          type: 'response.annotation.added',
          output_index: this.indexes.message(out),
          annotation: fromChatAnnotation(annotation),
        });
    }
  }

  private emitReasoning(text: unknown, out: ResponseStreamEvent[]): void {
    if (!isText(text)) return;
    const output_index = this.indexes.reasoning(out);
    out.push({ type: 'response.reasoning.delta', output_index, delta: text, summary: false });
  }

  private emitParts(parts: readonly unknown[], out: ResponseStreamEvent[]): void {
    for (const part of parts) {
      this.emitReasoning(thoughtText(part), out);
      if (isObject(part) && part.type === 'text' && isText(part.text))
        out.push({ type: 'response.output_text.delta', output_index: this.indexes.message(out), delta: part.text });
    }
  }

  private emitCall(call: PartialCall, choice: ChoiceAssembly, out: ResponseStreamEvent[]): void {
    this.announce(call, choice, out);
    const output_index = this.indexes.callIndex(call);
    if (this.context.streamArguments !== true || call.kind === 'custom' || output_index === undefined) return;
    const delta = call.fragments.slice(this.emitted.get(call)).join('');
    if (delta === '') return;
    this.emitted.set(call, call.fragments.length);
    out.push({ type: 'response.tool_use.delta', output_index, call_id: call.id, name: call.name, delta });
  }

  private announce(call: PartialCall, choice: ChoiceAssembly, out: ResponseStreamEvent[]): void {
    if (this.indexes.callIndex(call) !== undefined || call.name === '') return;
    // Vendors that assign ids send them together with the name.
    if (call.id === '')
      call.id = generatedCallId(
        responseIdOf(this.assembly.id, this.context),
        Math.max(0, choice.calls.calls.indexOf(call)),
      );
    this.indexes.call(call, out);
  }

  private emitVendorEvent(raw: JsonObject, out: ResponseStreamEvent[]): void {
    out.push({ type: 'vendor.event', origin: this.origin, raw });
  }

  private finish(out: ResponseStreamEvent[]): void {
    const { firstChoice } = this.assembly;
    if (firstChoice === undefined) throw this.incomplete('the stream has no choices');
    if (!firstChoice.hasMessage && !isFiltered({ finish_reason: firstChoice.finishReason }))
      throw this.incomplete('the stream has no message');
    // With usage before it, the end marker is the end: a host behind OpenRouter left the finish reason out.
    if (!isText(firstChoice.finishReason) && !this.hasUsage && !this.quirks.allowsNullFinishReason)
      throw this.incomplete('the stream ended without a finish_reason');
    const response = fromChatCompletions(this.assembly.completion(), this.context);
    this.isDone = true;
    const outputIndexes = this.indexes.ofOutput(response.output, firstChoice, out);
    response.output.forEach((item, index) => {
      const output_index = outputIndexes[index] ?? index;
      // If the response was truncated, its calls may be, too.
      if (item.type === 'function_call' && response.status === 'completed')
        out.push({ type: 'response.tool_use.done', output_index, item });
      if (index === 0 && this.endedReasoning !== undefined && isSameItem(item, this.endedReasoning)) return;
      out.push({ type: 'response.output_item.done', output_index, item });
    });
    out.push({ type: 'response.completed', response });
  }

  /** Ends the reasoning with all that is known of it, since its stream item closes when the next one begins. */
  private endReasoning(output_index: number, out: ResponseStreamEvent[]): void {
    const { output } = completionItems(
      parseCompletion(this.assembly.completion(), this.context),
      'completed',
      this.context,
    );
    const [item] = output;
    if (item?.type !== 'reasoning') return;
    this.endedReasoning = item;
    out.push({ type: 'response.output_item.done', output_index, item });
  }

  private vendorFailure(body: unknown): Error {
    const { vendor, requestId } = this.context;
    return vendorError({ vendor, body, requestId });
  }

  private incomplete(what: string): LLMStreamError {
    const { vendor, requestId } = this.context;
    return new LLMStreamError(`The response of ${vendor} is incomplete: ${what}.`, { vendor, requestId });
  }
}

/** A truncated response leaves reasoning that has ended as it is. */
function isSameItem(item: OutputItem, ended: OutputItem): boolean {
  return canonicalForm(item) === canonicalForm(ended);
}

function canonicalForm(item: OutputItem): string {
  return JSON.stringify({ ...item, status: undefined });
}

function hasUnmappedFields(delta: JsonObject): boolean {
  for (const field in delta) if (!MAPPED_FIELDS.has(field) && delta[field] !== null) return true;
  return false;
}

/** Groq reports usage in `x_groq`, Moonshot in the choice. Some vendors report the total so far in every chunk. */
function usageIn({ usage, x_groq, choices }: JsonObject): JsonObject | undefined {
  if (isObject(usage)) return usage;
  const inChoice = isList(choices) ? fieldsOf(choices[0]).usage : undefined;
  if (isObject(inChoice)) return inChoice;
  return isObject(x_groq) && isObject(x_groq.usage) && 'prompt_tokens' in x_groq.usage ? x_groq.usage : undefined;
}
