/** Assigns output indexes to the items of a chat stream, which has none, in the order in which the items start. */
import type { ChoiceAssembly } from './chatCompletionAssembly';
import type { PartialCall } from './ToolCallFragments';
import { fieldsOf } from '../../../../domain/util/json';
import type { OutputItem } from '../../../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../../domain/types/StreamEvents';
import type { Origin } from '../../../../domain/types/VendorTypes';

export class OutputIndexes {
  private next = 0;
  private reasoningIndex: number | undefined;
  private messageIndex: number | undefined;
  private readonly calls = new Map<PartialCall, number>();
  private readonly tools: number[] = [];
  private readonly onNext: (reasoningIndex: number, out: ResponseStreamEvent[]) => void;
  private isReasoning = false;

  /** @param onNext called before the first item after the reasoning is added */
  constructor(onNext: (reasoningIndex: number, out: ResponseStreamEvent[]) => void) {
    this.onNext = onNext;
  }

  reasoning(out: ResponseStreamEvent[]): number {
    if (this.reasoningIndex === undefined) {
      this.reasoningIndex = this.add({ type: 'reasoning', summary: [], status: 'in_progress' }, out);
      this.isReasoning = true;
    }
    return this.reasoningIndex;
  }

  message(out: ResponseStreamEvent[]): number {
    this.messageIndex ??= this.add({ type: 'message', role: 'assistant', content: [], status: 'in_progress' }, out);
    return this.messageIndex;
  }

  /** Adds the tools that were executed since the last call; `tools` lists all so far. */
  executedTools(tools: readonly unknown[], origin: Origin, out: ResponseStreamEvent[]): void {
    for (const item of tools.slice(this.tools.length))
      this.tools.push(this.add({ type: 'vendor_item', origin, item: fieldsOf(item) }, out));
  }

  /** Undefined before the call is announced. */
  callIndex(call: PartialCall): number | undefined {
    return this.calls.get(call);
  }

  call(call: PartialCall, out: ResponseStreamEvent[]): void {
    const { id: call_id, name } = call;
    if (call.kind === 'custom') {
      this.calls.set(
        call,
        this.add({ type: 'custom_tool_call', call_id, name, input: '', status: 'in_progress' }, out),
      );
      return;
    }
    const output_index = this.add({ type: 'function_call', call_id, name, arguments: '', status: 'in_progress' }, out);
    this.calls.set(call, output_index);
    out.push({ type: 'response.tool_use.announced', output_index, call_id, name });
  }

  /** The indexes of the final output. Items without any delta, such as an empty message, are added now. */
  ofOutput(
    output: readonly OutputItem[],
    { calls, legacyCall }: ChoiceAssembly,
    out: ResponseStreamEvent[],
  ): readonly number[] {
    const assignedCalls = [...calls.ordered(), ...(legacyCall === undefined ? [] : [legacyCall])].map((call) =>
      this.calls.get(call),
    );
    const assigned = {
      reasoning: [this.reasoningIndex],
      message: [this.messageIndex],
      vendor_item: [...this.tools],
      function_call: assignedCalls,
      custom_tool_call: assignedCalls,
    };
    return output.map((item) => {
      const indexes: (number | undefined)[] = Object.hasOwn(assigned, item.type)
        ? assigned[item.type as keyof typeof assigned]
        : [];
      return indexes.shift() ?? this.add(item, out);
    });
  }

  private add(item: OutputItem, out: ResponseStreamEvent[]): number {
    if (this.isReasoning && this.reasoningIndex !== undefined) {
      this.isReasoning = false;
      this.onNext(this.reasoningIndex, out);
    }
    const output_index = this.next;
    this.next += 1;
    out.push({ type: 'response.output_item.added', output_index, item });
    return output_index;
  }
}
