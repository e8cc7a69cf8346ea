/**
 * Keeps `parallel_tool_calls: false` where the vendor does not: only the first call of a response is kept, and once it
 * has its result, the model asks for the others again.
 */
import { isCallItem } from '../stream/callItems';
import type { NormalizedOptions } from '../../../domain/types/LLMTypes';
import type { LLMResponse } from '../../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../domain/types/StreamEvents';
import type { RewrittenTools } from './RewrittenTools';

/** @param isEnforced whether the vendor itself promises at most one call, so that its messages may be relayed */
export function keepFirstCall(options: NormalizedOptions, isEnforced: boolean): RewrittenTools | undefined {
  if (options.parallel_tool_calls !== false) return undefined;
  const first = new FirstCall();
  return {
    options,
    isRelayable: isEnforced,
    restoreResponse: (response) => first.inResponse(response),
    restoreEvent: (event) => {
      const kept = first.inEvent(event);
      return kept === undefined ? [] : [kept];
    },
  };
}

class FirstCall {
  private index: number | undefined;
  private id: string | undefined;
  /** The indexes of the items that are left out. */
  private readonly omitted = new Set<number>();

  inResponse(response: LLMResponse): LLMResponse {
    const calls = response.output.filter(isCallItem);
    if (calls.length < 2) return response;
    const first = calls.find(({ call_id }) => call_id === this.id) ?? calls[0];
    const warning = `The model made ${calls.length} calls at once; only the first was kept: parallel_tool_calls is false.`;
    return {
      ...response,
      output: response.output.filter((item) => !isCallItem(item) || item === first),
      vendor: {
        ...response.vendor,
        omitted_calls: calls.length - 1,
        warnings: [...response.vendor.warnings, warning],
      },
    };
  }

  inEvent(event: ResponseStreamEvent): ResponseStreamEvent | undefined {
    if (event.type === 'response.completed') return { ...event, response: this.inResponse(event.response) };
    if (!('output_index' in event)) return event;
    const { output_index } = event;
    if ('item' in event && isCallItem(event.item)) {
      this.index ??= output_index;
      if (output_index === this.index) this.id = String(event.item.call_id);
      else this.omitted.add(output_index);
    }
    if (this.omitted.has(output_index)) return undefined;
    const before = [...this.omitted].filter((index) => index < output_index).length;
    return before === 0 ? event : { ...event, output_index: output_index - before };
  }
}
