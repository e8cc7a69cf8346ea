/** Embeddings: vectors that stand for the meaning of texts. */
import type { GenerateOptions } from './LLMTypes';
import type { FailedAttempt, Usage } from './ResponsesAPITypes';
import type { CallCost } from './ModelPrice';
import type { JsonObject } from './VendorTypes';

/** What one vector is made of: a text, its tokens, or parts in Gemini's format for models that read more than text. */
export type EmbeddingInput = string | readonly number[] | { readonly parts: readonly JsonObject[] };

export interface EmbedOptions extends Pick<
  GenerateOptions,
  | 'model'
  | 'user'
  | 'signal'
  | 'timeout'
  | 'maxRetryTime'
  | 'onHead'
  | 'onRetry'
  | 'origin'
  | 'onRateLimits'
  | 'onAnnotation'
> {
  /** A list gets one vector for each entry; a list of numbers is the tokens of one text. */
  readonly input: EmbeddingInput | readonly EmbeddingInput[];
  /** The length of the vectors, where the model permits a choice. */
  readonly dimensions?: number;
  /** How OpenAI sends the vectors, which are numbers here in any case. Base64 is shorter. Default: `float`. */
  readonly encoding?: 'float' | 'base64';
  /** Google's: what the vectors are for, such as `RETRIEVAL_DOCUMENT`. */
  readonly taskType?: string;
  /** Google's: the title of the document that the text is from. */
  readonly title?: string;
}

export interface Embeddings {
  /** The model as the vendor names it. */
  readonly model: string;
  /** In the order of the input. */
  readonly embeddings: readonly (readonly number[])[];
  /** `estimated` if the vendor reports none. */
  readonly usage: Usage;
  readonly vendor: EmbeddingVendor;
}

/** The most that one request for embeddings may have. */
export interface EmbeddingBatch {
  readonly inputs: number;
  /** Tokens of all inputs together. */
  readonly tokens?: number;
}

/** Details of the call. The router sets `cost` or `unpriced`, and `providerId`. */
export interface EmbeddingVendor extends CallCost {
  readonly name: string;
  readonly providerId?: string;
  readonly request_id?: string;
  readonly warnings: readonly string[];
  /** What failed before, oldest first. */
  readonly attempts?: readonly FailedAttempt[];
}
