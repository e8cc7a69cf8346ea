/** The events of a stream, whichever wire it came over. */
import type { LLMError } from '../errors/LLMErrors';
import type { FunctionCallItem, LLMResponse, OutputItem, Usage } from './ResponsesAPITypes';
import type { JsonObject, Origin, WireName } from './VendorTypes';

/**
 * Index of the part within its item (within its summary, for a summary), if the wire numbers parts. Absent: the first.
 */
interface PlacedPart {
  readonly content_index?: number;
}

export type ResponseStreamEvent =
  | { readonly type: 'response.created'; readonly id: string; readonly model: string }
  | { readonly type: 'response.output_item.added'; readonly output_index: number; readonly item: OutputItem }
  | { readonly type: 'response.output_item.done'; readonly output_index: number; readonly item: OutputItem }
  | (PlacedPart & {
      readonly type: 'response.output_text.delta';
      readonly output_index: number;
      readonly delta: string;
    })
  | (PlacedPart & { readonly type: 'response.refusal.delta'; readonly output_index: number; readonly delta: string })
  | (PlacedPart & {
      readonly type: 'response.reasoning.delta';
      readonly output_index: number;
      readonly delta: string;
      readonly summary: boolean;
    })
  | (PlacedPart & {
      readonly type: 'response.annotation.added';
      readonly output_index: number;
      readonly annotation: JsonObject;
    })
  /** The model has started a tool call. */
  | {
      readonly type: 'response.tool_use.announced';
      readonly output_index: number;
      readonly call_id: string;
      readonly name: string;
    }
  /** The next piece of the arguments, as the model writes them. Only with `GenerateOptions.streamArguments`. */
  | {
      readonly type: 'response.tool_use.delta';
      readonly output_index: number;
      readonly call_id: string;
      readonly name: string;
      readonly delta: string;
    }
  /** The tool call and its arguments are complete. */
  | { readonly type: 'response.tool_use.done'; readonly output_index: number; readonly item: FunctionCallItem }
  /** The running total of the response. */
  | { readonly type: 'response.usage'; readonly usage: Usage }
  /** A vendor event without an equivalent here. It is re-emitted only towards the wire that it came from. */
  | { readonly type: 'vendor.event'; readonly origin: Origin; readonly raw: JsonObject }
  /**
   * A raw message of the wire, emitted before the events that it is converted to. Only if `GenerateOptions.relay`
   * requests it.
   */
  | {
      readonly type: 'wire.message';
      readonly wire: WireName;
      readonly event?: string | undefined;
      readonly data: string;
    }
  /** The complete response, equal to the one without streaming. Also for `status: 'incomplete'`. */
  | { readonly type: 'response.completed'; readonly response: LLMResponse }
  | { readonly type: 'response.failed'; readonly error: LLMError; readonly response?: LLMResponse };

/** A piece of what the model says. */
export type TextDelta = Extract<
  ResponseStreamEvent,
  { readonly type: 'response.output_text.delta' | 'response.refusal.delta' | 'response.reasoning.delta' }
>;
