/**
 * What every wire gives: two pure conversions and a stream decoder. Converters belong to wires; vendors' departures
 * come in as quirks.
 */
import type { ModelCapabilities } from '../../domain/interfaces/ILLMProvider';
import type { NormalizedOptions } from '../../domain/types/LLMTypes';
import type { InputFile, InputImage, LLMResponse } from '../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../domain/types/StreamEvents';
import type { JsonObject, Loss, VendorName, VendorQuirks, WireName } from '../../domain/types/VendorTypes';

/** The facts about the other side that a conversion may read. */
export interface WireContext {
  /** The vendor's name, for labels and `origin`; never a condition. */
  readonly vendor: VendorName;
  readonly quirks: VendorQuirks;
  readonly capabilities: ModelCapabilities;
}

export interface WireRequest {
  readonly body: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
  /** Options that were mapped roughly or left out. */
  readonly warnings: readonly string[];
  /** Content that could not be carried. */
  readonly losses: readonly Loss[];
  /** The forced tool that stands in for structured output; handed back in `ResponseContext`. */
  readonly structuredOutputTool?: string;
}

/** What the answer's conversion must know of its request. */
export interface ResponseContext extends WireContext {
  /** The model that was asked, for answers that don't name theirs. */
  readonly model: string;
  readonly requestId?: string;
  readonly warnings: readonly string[];
  readonly losses: readonly Loss[];
  /** Seconds since the epoch, for answers that carry no time. */
  readonly receivedAt: number;
  /** The answer's text is the one forced tool's arguments: the wire asked for structured output that way. */
  readonly structuredOutputTool?: string;
}

export interface SseMessage {
  readonly event?: string | undefined;
  readonly data: string;
}

/** One stream's state. Events are pushed into `out` so that a delta costs no promise of its own. */
export interface StreamDecoder {
  /** @throws LLMError when the wire reports an error, LLMStreamError for what is not the wire's JSON */
  push(message: SseMessage, out: ResponseStreamEvent[]): void;
  /**
   * The body ended. Emits `response.completed`, if `push` has not yet.
   * @throws LLMStreamError when the wire's end marker never came
   */
  end(out: ResponseStreamEvent[]): void;
}

export interface Wire {
  readonly name: WireName;
  /** @throws UnsupportedFeatureError for content that the wire cannot express */
  toRequest(options: NormalizedOptions, context: WireContext, stream: boolean): WireRequest;
  /** @throws LLMStreamError for a body that is not the wire's, LLMError for a failed response */
  fromResponse(body: unknown, context: ResponseContext): LLMResponse;
  createDecoder(context: ResponseContext): StreamDecoder;
  /** Whether hosts of this wire read the URL of an image or a file themselves. */
  fetchesUrl(part: InputImage | InputFile, quirks: VendorQuirks): boolean;
}
