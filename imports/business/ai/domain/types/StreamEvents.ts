/** What a stream says, whichever wire it came over. */
import type { LLMError } from '../errors/LLMErrors';
import type { FunctionCallItem, LLMResponse, OutputItem, Usage } from './ResponsesAPITypes';
import type { JsonObject, Origin, WireName } from './VendorTypes';

/**
 * Place of the part within its item (of its summary, for a summary), where the wire numbers parts; absent: the
 * first.
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
  /** The model began a call. */
  | {
      readonly type: 'response.tool_use.announced';
      readonly output_index: number;
      readonly call_id: string;
      readonly name: string;
    }
  /** The call is complete: its arguments are whole. */
  | { readonly type: 'response.tool_use.done'; readonly output_index: number; readonly item: FunctionCallItem }
  /** The running total. */
  | { readonly type: 'response.usage'; readonly usage: Usage }
  /** What the inner language has no word for, re-emitted only towards the wire that it came from. */
  | { readonly type: 'vendor.event'; readonly origin: Origin; readonly raw: JsonObject }
  /**
   * A message of the wire's stream as it came, before the events that it means; only where `GenerateOptions.relay`
   * asks for it.
   */
  | {
      readonly type: 'wire.message';
      readonly wire: WireName;
      readonly event?: string | undefined;
      readonly data: string;
    }
  /** The whole response, the same that the answer gives without streaming. Also for `status: 'incomplete'`. */
  | { readonly type: 'response.completed'; readonly response: LLMResponse }
  | { readonly type: 'response.failed'; readonly error: LLMError; readonly response?: LLMResponse };
