/**
 * One stream with everything that it takes to read it: limits, labels, the body, and the errors that its callers
 * get.
 */
import { isLLMError, LLMAbortedError, LLMStreamError } from '../../domain/errors/LLMErrors';
import type { LLMError } from '../../domain/errors/LLMErrors';
import { REQUEST_ID_HEADERS, vendorError } from '../../domain/errors/vendorErrors';
import type { ResponseStreamEvent } from '../../domain/types/StreamEvents';
import { DEFAULT_TRANSPORT_LIMITS } from '../../domain/types/VendorTypes';
import type { JsonObject, SchemeName, VendorName, VendorQuirks } from '../../domain/types/VendorTypes';
import type { ResponseContext, Wire } from '../converters/Wire';
import { capabilitiesOf } from '../vendors/capabilities';
import { DEFAULT_QUIRKS } from '../vendors/defaultQuirks';
import { VENDOR_ROWS } from '../vendors/vendors';
import { decodeBatches } from './decodeStream';
import { SCHEMES } from './schemes';
import { StreamSource } from './StreamSource';
import type { ByteSource } from './StreamSource';
import type { StreamEncoderOptions, RawReasoningName, ReasoningField } from '../converters/stream/StreamEncoder';

export interface StreamOptions {
  /** The model that was asked, for streams that don't name theirs. */
  readonly model?: string;
  /** Whose stream it is; default: the vendor whose wire the source scheme is. */
  readonly vendor?: VendorName;
  /** The host's departures from its vendor's row. */
  readonly quirks?: Partial<VendorQuirks>;
  /** False keeps tool calls from the lines; the chunks have them all the same. Default: true. */
  readonly relayToolUseEvents?: boolean;
  /**
   * Whether lines tell token counts where the target leaves that open; the chunks always do, once, at the end.
   * Default: false.
   */
  readonly relayUsageEvents?: boolean;
  /** A line tells when the model begins a call. Default: false. */
  readonly emitFunctionAnnouncements?: boolean;
  /** Longest silence in milliseconds; comments are silence. Default: 60,000. */
  readonly streamIdleTimeout?: number;
  /** Default: 8 MiB. */
  readonly maxEventBytes?: number;
  /** Default: 64 MiB. */
  readonly maxResponseBytes?: number;
  readonly signal?: AbortSignal;
  /** Seconds since the epoch, for formats that date their answers. Default: now. */
  readonly created?: number;
  /**
   * Chat completions as target: where its client looks for the model's reasoning. Default: where the vendor puts
   * it, else `reasoning_content`.
   */
  readonly reasoningField?: ReasoningField;
  /**
   * Responses as target: what the events of raw reasoning are called. Default: `reasoning`, as in Open Responses;
   * OpenAI's own client wants `reasoning_text`.
   */
  readonly rawReasoningName?: RawReasoningName;
  /** The request's own fields that a response of the Responses API repeats. */
  readonly echo?: JsonObject;
  /** The forced tool that stands in for structured output. */
  readonly structuredOutputTool?: string;
}

/** A fetch response, a client's reply, or the body alone. */
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
  /** The consumer is gone, and with it whoever an error could be told. */
  isCancelled = false;

  constructor(scheme: SchemeName, source: StreamInput, options: StreamOptions) {
    const { wire, vendor: usual } = SCHEMES[scheme];
    const { vendor = usual, model = '', created = Math.floor(Date.now() / 1_000) } = options;
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
      ...(requestId === undefined ? {} : { requestId }),
      ...(options.structuredOutputTool === undefined ? {} : { structuredOutputTool: options.structuredOutputTool }),
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
      relayToolUseEvents: options.relayToolUseEvents !== false,
      emitFunctionAnnouncements: options.emitFunctionAnnouncements === true,
      ...(reasoningField === undefined ? {} : { reasoningField }),
      ...(options.rawReasoningName === undefined ? {} : { rawReasoningName: options.rawReasoningName }),
      ...(options.echo === undefined ? {} : { echo: options.echo }),
    };
  }

  /** Events as they come: all that a piece of the body brought together. */
  events(): AsyncGenerator<readonly ResponseStreamEvent[], void, undefined> {
    const { body } = this;
    if (body === undefined) throw new LLMStreamError('The answer has no body.', { vendor: this.context.vendor });
    const limits = { ...DEFAULT_TRANSPORT_LIMITS, ...limitsIn(this.options) };
    return decodeBatches(body, this.wire.createDecoder(this.context), {
      ...limits,
      abort: (reason) => body.failOnIdle(reason),
    });
  }

  cancel(): void {
    this.isCancelled = true;
    void this.body?.return();
  }

  /** @throws LLMError that an error status and its body stand for, the signal's reason */
  async throwIfRejected(): Promise<void> {
    this.options.signal?.throwIfAborted();
    if (this.response === undefined || (this.response.status >= 200 && this.response.status < 300)) return;
    const { status, headers } = this.response;
    const { vendor, requestId } = this.context;
    const details = {
      vendor,
      status,
      ...(headers === undefined ? {} : { header: (name: string) => headers.get(name) }),
      ...(requestId === undefined ? {} : { requestId }),
    };
    throw vendorError({ ...details, body: await this.errorBody() });
  }

  /** The error as clients may see it. */
  toClientError(thrown: unknown): LLMError {
    if (isLLMError(thrown)) return thrown;
    const { vendor } = this.context;
    if (this.isAborted(thrown)) return new LLMAbortedError('The stream was aborted.', { vendor, cause: thrown });
    return new LLMStreamError('The stream broke off.', { vendor, cause: thrown });
  }

  /** What callers get: whoever aborted recognises his own reason. */
  toCallerError(thrown: unknown): Error {
    return this.isAborted(thrown) ? (thrown as Error) : this.toClientError(thrown);
  }

  private isAborted(thrown: unknown): boolean {
    const { signal } = this.options;
    return signal !== undefined && signal.aborted && thrown === signal.reason;
  }

  /** JSON, or the text that it is instead. */
  private async errorBody(): Promise<unknown> {
    if (this.body === undefined) return '';
    this.body.enforceIdleTimeout();
    const decoder = new TextDecoder();
    let text = '';
    try {
      for await (const chunk of this.body) text += decoder.decode(chunk, { stream: true });
    } catch (thrown) {
      // The status has said that it failed; a body that breaks off cannot say more than came.
      if (this.isAborted(thrown)) throw thrown;
    }
    try {
      return JSON.parse(text) as unknown;
    } catch {
      return text;
    }
  }
}

function requestIdOf(response: VendorResponse | undefined): string | undefined {
  for (const name of REQUEST_ID_HEADERS) {
    const id = response?.headers?.get(name);
    if (id) return id;
  }
  return undefined;
}

/** The limits that the caller names. */
function limitsIn({
  streamIdleTimeout,
  maxEventBytes,
  maxResponseBytes,
}: StreamOptions): Partial<typeof DEFAULT_TRANSPORT_LIMITS> {
  return {
    ...(streamIdleTimeout === undefined ? {} : { streamIdleTimeout }),
    ...(maxEventBytes === undefined ? {} : { maxEventBytes }),
    ...(maxResponseBytes === undefined ? {} : { maxResponseBytes }),
  };
}
