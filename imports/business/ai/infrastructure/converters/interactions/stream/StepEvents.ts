/** The events of one step while it is streamed. One step may become several items: see `toOutputItems`. */
import type { OutputItem, OutputText } from '../../../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../../domain/types/StreamEvents';
import type { JsonObject } from '../../../../domain/types/VendorTypes';
import { isList, isObject } from '../../../../domain/util/json';
import type { InteractionStep } from '../interactionsTypes';
import { toAnnotations } from '../response/annotations';
import { assistantMessage, toFunctionCall, toOutputItems, toOutputText, toReasoning } from '../response/items';
import type { StepContext } from '../response/items';
import { textIn } from './StepAssembly';
import type { StepAssembly } from './StepAssembly';

/** The message that text is arriving for. */
interface OpenMessage {
  readonly index: number;
  /** The first content of the step that belongs to it. */
  readonly from: number;
}

export class StepEvents {
  private readonly assembly: StepAssembly;
  private readonly context: StepContext;
  private readonly takeIndex: () => number;
  /** The index of the step's only item. A model's output takes indexes as its contents arrive. */
  private index = -1;
  private message: OpenMessage | undefined;
  private call: { readonly call_id: string; readonly name: string } | undefined;
  /** Contents of a model's output that have been emitted or belong to the open message. */
  private seen = 0;

  constructor(assembly: StepAssembly, context: StepContext, takeIndex: () => number) {
    this.assembly = assembly;
    this.context = context;
    this.takeIndex = takeIndex;
  }

  start(out: ResponseStreamEvent[]): void {
    const { step } = this.assembly;
    switch (step.type) {
      case 'user_input':
        return;
      case 'model_output':
        for (const part of this.assembly.content) if (part.type === 'text') this.emitText(textIn(part.text), out);
        return;
      case 'thought':
        this.open({ ...toReasoning(step, this.context, 'in_progress'), summary: [] }, out);
        return;
      case 'function_call': {
        const call = { ...toFunctionCall(step, this.context, 'in_progress'), arguments: '' };
        const output_index = this.open(call, out);
        const { call_id, name } = call;
        this.call = { call_id, name };
        out.push({ type: 'response.tool_use.announced', output_index, call_id, name });
        return;
      }
      default:
        this.open({ type: 'vendor_item', origin: this.context.origin, item: { ...step } }, out);
    }
  }

  /** After the delta was added to the assembly. */
  add(delta: JsonObject, out: ResponseStreamEvent[]): void {
    const { type, content } = delta;
    if (type === 'text' && typeof delta.text === 'string') this.emitText(delta.text, out);
    else if (type === 'thought_summary' && isObject(content) && typeof content.text === 'string')
      out.push({ type: 'response.reasoning.delta', output_index: this.index, delta: content.text, summary: true });
    else if (type === 'text_annotation_delta') this.emitAnnotations(delta.annotations, out);
    else if (this.assembly.step.type === 'model_output') this.closeBefore(this.assembly.content.length - 1, out);
  }

  /** The next piece of a call's arguments. */
  addArguments({ type, arguments: delta }: JsonObject, out: ResponseStreamEvent[]): void {
    if (this.call === undefined || type !== 'arguments_delta' || typeof delta !== 'string') return;
    out.push({ type: 'response.tool_use.delta', output_index: this.index, ...this.call, delta });
  }

  stop(step: InteractionStep, context: StepContext, out: ResponseStreamEvent[]): void {
    if (step.type === 'user_input') return;
    if (step.type === 'model_output') {
      this.closeBefore(this.assembly.content.length, out);
      this.closeMessage(this.assembly.content.length, out);
      return;
    }
    const [item] = toOutputItems(step, context, 'completed');
    if (item === undefined) return;
    if (item.type === 'function_call') out.push({ type: 'response.tool_use.done', output_index: this.index, item });
    out.push({ type: 'response.output_item.done', output_index: this.index, item });
  }

  private open(item: OutputItem, out: ResponseStreamEvent[]): number {
    this.index = this.takeIndex();
    out.push({ type: 'response.output_item.added', output_index: this.index, item });
    return this.index;
  }

  private emitText(text: string, out: ResponseStreamEvent[]): void {
    const at = this.assembly.content.length - 1;
    this.closeBefore(at, out);
    if (this.message === undefined) {
      this.message = { index: this.takeIndex(), from: at };
      const { index: output_index } = this.message;
      out.push({ type: 'response.output_item.added', output_index, item: assistantMessage([], 'in_progress') });
    }
    this.seen = at + 1;
    if (text === '') return;
    const content_index = at - this.message.from;
    out.push({
      type: 'response.output_text.delta',
      output_index: this.message.index,
      delta: text,
      ...(content_index === 0 ? {} : { content_index }),
    });
  }

  private emitAnnotations(annotations: unknown, out: ResponseStreamEvent[]): void {
    const { message } = this;
    if (message === undefined || !isList(annotations)) return;
    const text = this.assembly.content.at(-1)?.text;
    for (const annotation of toAnnotations(annotations, typeof text === 'string' ? text : ''))
      out.push({ type: 'response.annotation.added', output_index: message.index, annotation });
  }

  /** Contents other than text are items of their own, complete once the next content begins. */
  private closeBefore(end: number, out: ResponseStreamEvent[]): void {
    for (; this.seen < end; this.seen += 1) {
      const part = this.assembly.content[this.seen];
      if (part === undefined || part.type === 'text') continue;
      this.closeMessage(this.seen, out);
      const output_index = this.takeIndex();
      const item = {
        type: 'vendor_item' as const,
        origin: this.context.origin,
        item: { type: 'model_output', content: [part] },
      };
      out.push(
        { type: 'response.output_item.added', output_index, item },
        { type: 'response.output_item.done', output_index, item },
      );
    }
  }

  private closeMessage(end: number, out: ResponseStreamEvent[]): void {
    if (this.message === undefined) return;
    const { index: output_index, from } = this.message;
    this.message = undefined;
    const { type: _, content: __, ...own } = this.assembly.step;
    const parts: OutputText[] = this.assembly.content.slice(from, end).map(toOutputText);
    const item = assistantMessage(parts, 'completed', own);
    out.push({ type: 'response.output_item.done', output_index, item });
  }
}
