/** Port for the batch API of a vendor: many requests at once, answered within a day for less. */
import type { LLMError } from '../errors/LLMErrors';
import type { JsonObject, VendorName, WireName } from '../types/VendorTypes';

export interface VendorBatchLimits {
  /** Requests in one batch. */
  readonly requests: number;
  /** Bytes of one batch's requests. */
  readonly bytes: number;
}

export interface NewVendorBatch {
  /** Unique, so that the batch can be found again: 22 characters of `A-Za-z0-9_-`. */
  readonly marker: string;
  readonly model: string;
  /** Headers of the wire, the same for all requests. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What `encode` returned. */
  readonly lines: readonly string[];
  /** What `upload` returned. */
  readonly fileId?: string;
}

/** How many requests of a batch are done. Vendors that count at the end only report 0 until then. */
export interface VendorBatchCounts {
  readonly total: number;
  readonly succeeded: number;
  readonly failed: number;
}

export interface VendorBatchState {
  readonly id: string;
  readonly hasEnded: boolean;
  /** Why requests without a result have none. */
  readonly ending?: 'completed' | 'expired' | 'cancelled' | 'failed';
  readonly counts: VendorBatchCounts;
  /** Where the results are, in the vendor's terms. */
  readonly outputs: readonly string[];
  /** Why the vendor rejected the batch as a whole. */
  readonly error?: LLMError;
}

export interface VendorBatchResult {
  readonly customId: string;
  /** The body of the response, or why there is none. */
  readonly outcome:
    | { readonly body: JsonObject }
    | { readonly status: number | undefined; readonly errorBody: unknown }
    | { readonly ending: 'expired' | 'cancelled' };
}

/** A line of the results that is not JSON, such as one that is cut off, or of an error page with status 200. */
export interface UnreadableResult {
  readonly unreadable: string;
}

/** All methods throw what `ILLMProvider.generate` throws, and are one attempt. */
export interface VendorBatchApi {
  readonly limits: VendorBatchLimits;
  /** @returns one request of a batch, as JSON without a newline */
  encode(customId: string, body: JsonObject): string;
  /** For vendors that take the requests as a file. @returns its id */
  upload?(batch: NewVendorBatch, signal: AbortSignal): Promise<string>;
  create(batch: NewVendorBatch, signal: AbortSignal): Promise<VendorBatchState>;
  /**
   * Looks for a batch whose creation was not confirmed.
   * @param since milliseconds since the epoch, before its creation
   * @returns its id; `unknown` if only its results will tell, `undefined` if there is none
   */
  find(batch: Pick<NewVendorBatch, 'marker'> & SubmittedBatch, signal: AbortSignal): Promise<FoundBatch>;
  read(id: string, signal: AbortSignal): Promise<VendorBatchState>;
  /** Yields results as they are received, in any order. */
  results(state: VendorBatchState, signal: AbortSignal): AsyncIterable<VendorBatchResult | UnreadableResult>;
  /** Requests that are done keep their results. A batch that has ended is left as it is. */
  cancel(id: string, signal: AbortSignal): Promise<void>;
}

export interface SubmittedBatch {
  /** Milliseconds since the epoch, not after its creation. */
  readonly since: number;
  readonly requests: number;
}

/** `undecided`: one of the vendor's running batches may be it, which shows at its end. */
export type FoundBatch = { readonly id: string } | 'undecided' | undefined;

/** A request that is ready to be sent. */
export interface BatchRequest {
  readonly providerId: string;
  readonly vendor: VendorName;
  readonly wire: WireName;
  readonly model: string;
  readonly body: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
  readonly api: VendorBatchApi;
}

/** The place of one call in a batch. Providers that have batches pass their request to it, instead of sending it. */
export interface BatchedCall {
  /** An earlier process has submitted it, so that its usage is charged whatever is left of a budget. */
  readonly isSubmitted: boolean;
  /** An earlier process has counted its usage. */
  readonly isCounted: boolean;
  /**
   * @returns the body of the vendor's response, and the vendor's id of the batch
   * @throws LLMError for a request that failed, expired or was cancelled
   */
  exchange(request: BatchRequest): Promise<{ readonly body: JsonObject; readonly batchId: string }>;
}
