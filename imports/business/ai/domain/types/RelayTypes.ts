/** Requests that are relayed to a vendor's API as they are: files, batches, images, audio. */
import type { GenerateOptions } from './LLMTypes';
import type { JsonObject } from './VendorTypes';

export interface RelayRequest extends Pick<GenerateOptions, 'signal' | 'timeout' | 'onSend'> {
  readonly method: 'get' | 'post' | 'delete';
  /** Below the root of the vendor's API, such as `/files/file-1`, with encoded segments. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** In addition to those that authenticate. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: RelayBody;
  /** The vendor's name of the model, for APIs that take it in the path. */
  readonly model?: string;
}

/** A relayed request that calls a model: `model` may name the provider, and the call is limited, counted and logged. */
export interface RelayCall extends RelayRequest, Pick<GenerateOptions, 'origin' | 'onRetry' | 'onAnnotation'> {}

/** Text, or bytes that can be read once. */
export type RelayBody = string | AsyncIterable<Uint8Array> | RelayForm;

/** A multipart form, written while it arrives. */
export interface RelayForm extends AsyncIterable<Uint8Array> {
  /** The fields that are no files; one that is repeated has a list of texts. Keeps the whole form in memory. */
  readFields(): Promise<JsonObject>;
  /** The form with other texts in the fields that were read. */
  withFields(fields: JsonObject): RelayForm;
}

/** A response with a successful status, whose body is read at the consumer's pace. */
export interface RelayResponse {
  readonly status: number;
  header(name: string): string | null;
  /** The vendor's id for this request, from a header. */
  readonly requestId: string | undefined;
  /** The headers that the vendor's own clients evaluate: rate limits, retry hints. */
  readonly passthroughHeaders: Readonly<Record<string, string>>;
  /** The entire body. */
  text(): Promise<string>;
  /** Leaving the iteration early aborts the request. */
  readonly body: AsyncIterable<Uint8Array>;
}
