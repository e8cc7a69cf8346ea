/** Which place of the output each item of a chat stream has: they count in the order in which they begin. */
import type { ChoiceAssembly } from './chatCompletionAssembly';
import type { CallFragments } from './ToolCallFragments';
import { fieldsOf } from '../../../../domain/json';
import type { OutputItem } from '../../../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../../domain/types/StreamEvents';
import type { Origin } from '../../../../domain/types/VendorTypes';

export class OutputIndexes {
  private next = 0;
  private reasoningAt: number | undefined;
  private messageAt: number | undefined;
  private readonly calls = new Map<CallFragments, number>();
  private readonly tools: number[] = [];

  reasoning(out: ResponseStreamEvent[]): number {
    this.reasoningAt ??= this.begin({ type: 'reasoning', summary: [], status: 'in_progress' }, out);
    return this.reasoningAt;
  }

  message(out: ResponseStreamEvent[]): number {
    this.messageAt ??= this.begin({ type: 'message', role: 'assistant', content: [], status: 'in_progress' }, out);
    return this.messageAt;
  }

  /** The tools that were executed so far; each counts once. */
  executedTools(tools: readonly unknown[], origin: Origin, out: ResponseStreamEvent[]): void {
    for (const item of tools.slice(this.tools.length))
      this.tools.push(this.begin({ type: 'vendor_item', origin, item: fieldsOf(item) }, out));
  }

  hasCall(call: CallFragments): boolean {
    return this.calls.has(call);
  }

  call(call: CallFragments, out: ResponseStreamEvent[]): void {
    const { id: call_id, name } = call;
    if (call.kind === 'custom') {
      this.calls.set(
        call,
        this.begin({ type: 'custom_tool_call', call_id, name, input: '', status: 'in_progress' }, out),
      );
      return;
    }
    const output_index = this.begin(
      { type: 'function_call', call_id, name, arguments: '', status: 'in_progress' },
      out,
    );
    this.calls.set(call, output_index);
    out.push({ type: 'response.tool_use.announced', output_index, call_id, name });
  }

  /** The places of the whole output; items that no delta began, an empty message for one, begin now. */
  of(
    output: readonly OutputItem[],
    { calls, legacyCall }: ChoiceAssembly,
    out: ResponseStreamEvent[],
  ): readonly number[] {
    const begunCalls = [...calls.ordered(), ...(legacyCall === undefined ? [] : [legacyCall])].map((call) =>
      this.calls.get(call),
    );
    const begun = {
      reasoning: [this.reasoningAt],
      message: [this.messageAt],
      vendor_item: [...this.tools],
      function_call: begunCalls,
      custom_tool_call: begunCalls,
    };
    return output.map((item) => {
      const places: (number | undefined)[] = Object.hasOwn(begun, item.type)
        ? begun[item.type as keyof typeof begun]
        : [];
      return places.shift() ?? this.begin(item, out);
    });
  }

  private begin(item: OutputItem, out: ResponseStreamEvent[]): number {
    const output_index = this.next;
    this.next += 1;
    out.push({ type: 'response.output_item.added', output_index, item });
    return output_index;
  }
}
