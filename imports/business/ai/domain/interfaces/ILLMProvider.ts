/** A model endpoint: makes one attempt per call, in the OpenAI Responses format whatever the vendor's wire is. */
import type { EmbeddingBatch, Embeddings, EmbedOptions } from '../types/EmbeddingTypes';
import type { GenerateOptions } from '../types/LLMTypes';
import type { RelayCall, RelayResponse } from '../types/RelayTypes';
import type { ModelPrice } from '../types/ModelPrice';
import type { LLMResponse } from '../types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../types/StreamEvents';
import type { WireName } from '../types/VendorTypes';
import type { BatchStore } from './BatchStore';
import type { ResponseStore } from './ResponseStore';

export interface ModelCapabilities {
  readonly supportsTools: boolean;
  readonly supportsParallelTools: boolean;
  /** The wire itself permits a call's output in a later turn. */
  readonly supportsAsyncTools: boolean;
  readonly supportsVision: boolean;
  readonly supportsFiles: boolean;
  readonly supportsJSON: boolean;
  readonly supportsJSONSchema: boolean;
  readonly supportsReasoning: boolean;
  /** The vendor makes histories shorter on request: see `compact` in `GenerateOptions`. */
  readonly supportsCompaction?: boolean;
  /** The vendor stores responses, so `previous_response_id` works without replaying the history. */
  readonly keepsState: boolean;
  /** The model makes vectors of texts, and generates nothing. */
  readonly makesEmbeddings?: boolean;
  /** What one request for embeddings may have. Absent: as much as is sent. */
  readonly embeddingBatch?: EmbeddingBatch;
  /** Size of the context window, in tokens. */
  readonly maxTokens: number;
  readonly maxOutputTokens: number;
  /** Nothing is known of the model: the two limits above are what nearly every model accepts. */
  readonly isWindowUnknown?: true;
  /** The list price of standard requests. Absent: unknown. */
  readonly price?: ModelPrice;
}

export interface ModelRoute {
  readonly providerId: string;
  /** The model as the provider names it. Absent: its default, or not known. */
  readonly model?: string | undefined;
}

export interface AccessCheck {
  readonly valid: boolean;
}

export interface ILLMProvider {
  /**
   * True for providers that retry failed calls themselves. Others are wrapped in a retry policy by the agentic
   * loop.
   */
  readonly retriesFailedCalls?: boolean;
  /** Where an `LLMClient` with this provider stores responses, unless it has a store of its own. */
  readonly responseStore?: ResponseStore | undefined;
  /** The same for its batches at vendors. */
  readonly batchStore?: BatchStore | undefined;
  /** The model of requests that name none. Undefined if only the vendor knows it. */
  readonly defaultModel?: string | undefined;
  getProviderName(): string;
  /** Where a call with that model goes first, of several providers. Undefined for a model that names none of them. */
  routeOf?(model: string | undefined): ModelRoute | undefined;
  /**
   * One attempt.
   * @returns a completed or incomplete response
   * @throws LLMError for failed responses, `options.signal.reason` when aborted
   */
  generate(userId: string, options: GenerateOptions): Promise<LLMResponse>;
  /** One attempt as events. Ends with `response.completed` or throws what `generate` throws. */
  stream(userId: string, options: GenerateOptions): AsyncIterable<ResponseStreamEvent>;
  /** Whether this user's credential works, by the vendor's cheapest call. */
  validateAccess(userId: string): Promise<AccessCheck>;
  /** Names of the models that this user's credential can call. @throws as `generate` does */
  listModels?(userId: string, signal?: AbortSignal): Promise<readonly string[]>;
  /**
   * The input tokens of a request, by the vendor's own count. Generates nothing.
   * @returns undefined if the vendor does not count
   * @throws as `generate` does
   */
  countTokens?(userId: string, options: GenerateOptions): Promise<number | undefined>;
  /**
   * The vectors of texts, in one attempt.
   * @throws UnsupportedFeatureError if the vendor has no embeddings; what `generate` throws
   */
  embed?(userId: string, options: EmbedOptions): Promise<Embeddings>;
  /**
   * Sends a request to the vendor's API as it is, in one attempt.
   * @throws UnsupportedFeatureError if the vendor's API is not relayed; LLMError for error statuses
   */
  relay?(userId: string, request: RelayCall): Promise<RelayResponse>;
  /** @param wire the requested wire, as in `GenerateOptions` */
  getCapabilities(model: string, wire?: WireName): ModelCapabilities;
  /** The wire of a call that requests `wire`; undefined where responses are not those of a single wire. */
  wireOf?(wire?: WireName): WireName | undefined;
  /** Deletes a stored response. An id that no longer exists is no error. */
  deleteResponse?(userId: string, responseId: string): Promise<void>;
}

/** A provider that knows which model it calls when a request names none. */
export type DefaultedProvider = ILLMProvider & { readonly defaultModel: string };
