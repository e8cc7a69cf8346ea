/**
 * What every wire (vendor protocol) implements: two pure conversions and a stream decoder. A converter belongs to a
 * wire, not to a vendor; where a vendor deviates from its wire, its quirks state it.
 */
import type { Slices } from '../../domain/util/slices';
import type { ModelCapabilities } from '../../domain/interfaces/ILLMProvider';
import type { NormalizedOptions } from '../../domain/types/LLMTypes';
import type { InputFile, InputImage, LLMResponse } from '../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../domain/types/StreamEvents';
import type { FoundToolsForm } from './shared/foundTools';
import type { NativeForms } from './shared/nativeTools';
import type {
  CachedPrefix,
  JsonObject,
  Loss,
  VendorName,
  VendorQuirks,
  WireName,
} from '../../domain/types/VendorTypes';

/** Everything about the target vendor and model that a conversion may read. */
export interface WireContext {
  /** For labels and `origin` only. Converters must not branch on it. */
  readonly vendor: VendorName;
  readonly quirks: VendorQuirks;
  readonly capabilities: ModelCapabilities;
}

export interface WireRequest {
  readonly body: JsonObject;
  /** For APIs that store prompts under a name. The body itself is complete. */
  readonly cachedPrefix?: CachedPrefix;
  readonly headers?: Readonly<Record<string, string>>;
  /** Options that were approximated or omitted. */
  readonly warnings: readonly string[];
  /** Content that could not be sent. */
  readonly losses: readonly Loss[];
  /** The forced tool that stands in for structured output. Pass it on in `ResponseContext`. */
  readonly structuredOutputTool?: string;
}

/** What the conversion of a response must know about its request. */
export interface ResponseContext extends WireContext {
  /** The requested model, for responses that don't name theirs. */
  readonly model: string;
  readonly requestId?: string | undefined;
  readonly warnings: readonly string[];
  readonly losses: readonly Loss[];
  /** Unix time in seconds, for responses without a timestamp. */
  readonly receivedAt: number;
  /** The wire requested structured output through this tool, so its arguments are the response's text. */
  readonly structuredOutputTool?: string | undefined;
  /** Whether the pieces of the arguments of calls are emitted. */
  readonly streamArguments?: boolean | undefined;
  /** What was stored in a cache for the request, in tokens times the hours of their lifetime. */
  readonly storedTokenHours?: number | undefined;
}

export interface SseMessage {
  readonly event?: string | undefined;
  readonly data: string;
}

/** The state of one stream. Events are pushed into `out`, so that a delta costs no promise. */
export interface StreamDecoder {
  /** @throws LLMError when the wire reports an error, LLMStreamError for a message that is not the wire's JSON */
  push(message: SseMessage, out: ResponseStreamEvent[]): void;
  /**
   * Call this when the body has ended. Emits `response.completed` unless `push` already has.
   * @throws LLMStreamError when the wire's end marker is missing
   */
  end(out: ResponseStreamEvent[]): void;
}

export interface Wire {
  readonly name: WireName;
  /** In slices of a long history. @throws UnsupportedFeatureError for content that the wire cannot express */
  toRequest(options: NormalizedOptions, context: WireContext, stream: boolean): Slices<WireRequest>;
  /** @throws LLMStreamError for a body in another format, LLMError for a failed response */
  fromResponse(body: unknown, context: ResponseContext): LLMResponse;
  createDecoder(context: ResponseContext): StreamDecoder;
  /** The vendors' own tools that the client executes, in the forms of this wire. Absent: it has none. */
  nativeForms?(model: string, quirks: VendorQuirks): NativeForms;
  /** How this wire adds found tools to a conversation. Absent: in no way, also for the model. */
  foundTools?(model: string, context: WireContext): FoundToolsForm | undefined;
  /** Whether vendors on this wire fetch the URL of an image or a file themselves. */
  fetchesUrl(part: InputImage | InputFile, quirks: VendorQuirks): boolean;
}
