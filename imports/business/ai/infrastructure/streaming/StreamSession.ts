/** Reads one vendor stream: applies its limits, decodes its body, and maps what goes wrong to errors for callers. */
import { jsonOrText } from '../../domain/util/json';
import type { EventStream } from '../../domain/events/EventStream';
import { isLLMError, LLMAbortedError, LLMStreamError } from '../../domain/errors/LLMErrors';
import type { LLMError } from '../../domain/errors/LLMErrors';
import { REQUEST_ID_HEADERS, vendorError } from '../../domain/errors/vendorErrors';
import { omitUndefined } from '../../domain/util/omitUndefined';
import { DEFAULT_TRANSPORT_LIMITS } from '../../domain/types/VendorTypes';
import type { JsonObject, SchemeName, VendorName, VendorQuirks } from '../../domain/types/VendorTypes';
import type { ResponseContext, Wire } from '../converters/Wire';
import { capabilitiesOf } from '../vendors/capabilities';
import { DEFAULT_QUIRKS } from '../vendors/defaultQuirks';
import { VENDOR_ROWS } from '../vendors/vendors';
import { decodeStream } from './decodeStream';
import { SOURCE_SCHEMES } from './schemes';
import { StreamSource } from './StreamSource';
import type { ByteSource } from './StreamSource';
import type { StreamEncoderOptions, RawReasoningName, ReasoningField } from '../converters/stream/StreamEncoder';

export interface StreamOptions {
  /** The requested model, for streams that don't name theirs. */
  readonly model?: string;
  /** The vendor that sent the stream. Default: the vendor that defined the source scheme. */
  readonly vendor?: VendorName;
  /** How the endpoint departs from its vendor's quirks. */
  readonly quirks?: Partial<VendorQuirks>;
  /** False removes tool calls, but not their announcements, from the lines; the chunks contain them. Default: true. */
  readonly relayToolUseEvents?: boolean;
  /**
   * Whether lines report token counts where the target scheme leaves that to the client. The last chunk always
   * reports them. Default: false.
   */
  readonly relayUsageEvents?: boolean;
  /** Sends a line as soon as the model starts a call. Default: false. */
  readonly emitFunctionAnnouncements?: boolean;
  /** Longest time without data, in milliseconds; comments don't count as data. Default: 60,000. */
  readonly streamIdleTimeout?: number;
  /** Default: 8 MiB. */
  readonly maxEventBytes?: number;
  /** Default: 64 MiB. */
  readonly maxResponseBytes?: number;
  readonly signal?: AbortSignal;
  /** Seconds since the epoch, for formats that date their responses. Default: now. */
  readonly created?: number;
  /**
   * Target chat completions: the field the client reads reasoning from. Default: the field the vendor uses, else
   * `reasoning_content`.
   */
  readonly reasoningField?: ReasoningField;
  /**
   * Target Responses: the name of raw reasoning events. Default: `reasoning`, as in Open Responses; OpenAI's own
   * client expects `reasoning_text`.
   */
  readonly rawReasoningName?: RawReasoningName;
  /** Target Responses: the request's own fields that the response repeats. */
  readonly echo?: JsonObject;
  /** The forced tool that stands in for structured output. */
  readonly structuredOutputTool?: string;
}

/** A fetch response, a client's response, or the body alone. */
export type StreamInput = ByteSource | VendorResponse;

export interface VendorResponse {
  readonly status: number;
  readonly headers?: { get(name: string): string | null };
  readonly body: ByteSource | null;
}

export class StreamSession {
  readonly encoderOptions: StreamEncoderOptions;
  private readonly options: StreamOptions;
  private readonly context: ResponseContext;
  private readonly wire: Wire;
  private readonly response: VendorResponse | undefined;
  private readonly body: StreamSource | undefined;
  /** The consumer has left, so there is nobody to report an error to. */
  isCancelled = false;

  constructor(scheme: SchemeName, source: StreamInput, options: StreamOptions) {
    const { wire, vendor: defaultVendor } = SOURCE_SCHEMES[scheme];
    const { vendor = defaultVendor, model = '', created = Math.floor(Date.now() / 1_000) } = options;
    this.options = options;
    this.wire = wire;
    this.response = 'status' in source ? source : undefined;
    const bytes = 'status' in source ? source.body : source;
    this.body =
      bytes === null
        ? undefined
        : new StreamSource(bytes, { ...DEFAULT_TRANSPORT_LIMITS, ...limitsIn(options), signal: options.signal });
    const requestId = requestIdOf(this.response);
    this.context = {
      vendor,
      quirks: { ...DEFAULT_QUIRKS, ...VENDOR_ROWS[vendor].quirks, ...options.quirks },
      capabilities: capabilitiesOf(vendor, model),
      model,
      requestId,
      structuredOutputTool: options.structuredOutputTool,
      warnings: [],
      losses: [],
      receivedAt: created,
    };
    const reasoningField = options.reasoningField ?? VENDOR_ROWS[vendor].reasoningField;
    this.encoderOptions = {
      model,
      id: requestId ?? `stream_${created}`,
      created,
      includeUsage: options.relayUsageEvents === true,
      callsInLastChunk: true,
      relayToolUseEvents: options.relayToolUseEvents !== false,
      emitFunctionAnnouncements: options.emitFunctionAnnouncements === true,
      reasoningField,
      rawReasoningName: options.rawReasoningName,
      echo: options.echo,
    };
  }

  events(): EventStream {
    const { body } = this;
    if (body === undefined) throw new LLMStreamError('The response has no body.', { vendor: this.context.vendor });
    const limits = { ...DEFAULT_TRANSPORT_LIMITS, ...limitsIn(this.options) };
    return decodeStream(body, this.wire.createDecoder(this.context), {
      ...limits,
      abort: (reason) => body.failOnIdle(reason),
    });
  }

  cancel(): void {
    this.isCancelled = true;
    void this.body?.return();
  }

  /** @throws LLMError for an error status, with the details from its body; the signal's reason when aborted */
  async throwIfRejected(): Promise<void> {
    this.options.signal?.throwIfAborted();
    if (this.response === undefined || (this.response.status >= 200 && this.response.status < 300)) return;
    const { status, headers } = this.response;
    const { vendor, requestId } = this.context;
    const details = omitUndefined({
      vendor,
      status,
      header: headers === undefined ? undefined : (name: string) => headers.get(name),
      requestId,
    });
    throw vendorError({ ...details, body: await this.errorBody() });
  }

  /** The error to send to the client. */
  toClientError(thrown: unknown): LLMError {
    if (isLLMError(thrown)) return thrown;
    const { vendor } = this.context;
    if (this.isAborted(thrown)) return new LLMAbortedError('The stream was cancelled.', { vendor, cause: thrown });
    return new LLMStreamError('The connection was lost in the middle of the stream.', { vendor, cause: thrown });
  }

  /** The error to throw to the caller: the signal's own reason when aborted, so that the caller can recognize it. */
  toCallerError(thrown: unknown): Error {
    return this.isAborted(thrown) ? (thrown as Error) : this.toClientError(thrown);
  }

  private isAborted(thrown: unknown): boolean {
    const { signal } = this.options;
    return signal !== undefined && signal.aborted && thrown === signal.reason;
  }

  /** The body of an error response: parsed if it is JSON, else as text. */
  private async errorBody(): Promise<unknown> {
    if (this.body === undefined) return '';
    this.body.enforceIdleTimeout();
    const decoder = new TextDecoder();
    let text = '';
    try {
      for await (const chunk of this.body) text += decoder.decode(chunk, { stream: true });
    } catch (thrown) {
      // The status already reports the failure; a truncated body only lacks detail.
      if (this.isAborted(thrown)) throw thrown;
    }
    return jsonOrText(text);
  }
}

function requestIdOf(response: VendorResponse | undefined): string | undefined {
  for (const name of REQUEST_ID_HEADERS) {
    const id = response?.headers?.get(name);
    if (id) return id;
  }
  return undefined;
}

/** The limits that the caller set. */
function limitsIn({
  streamIdleTimeout,
  maxEventBytes,
  maxResponseBytes,
}: StreamOptions): Partial<typeof DEFAULT_TRANSPORT_LIMITS> {
  return omitUndefined({ streamIdleTimeout, maxEventBytes, maxResponseBytes });
}
