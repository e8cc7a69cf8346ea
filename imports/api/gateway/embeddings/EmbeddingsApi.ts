/** An API with embeddings: reads its requests and writes its responses. */
import type { HttpRequest } from '../../http/HttpMessages';
import type { Embeddings, EmbedOptions } from '../../../business/ai/domain/types/EmbeddingTypes';
import type { JsonObject, WireName } from '../../../business/ai/domain/types/VendorTypes';

export interface EmbeddingsRequest {
  readonly options: EmbedOptions;
  /** What is not sent, as sentences. */
  readonly warnings: readonly string[];
  readonly write: (made: Embeddings) => JsonObject;
}

export interface EmbeddingsApi {
  /** The wire whose errors and headers this API has. */
  readonly wire: Extract<WireName, 'chat_completions' | 'gemini'>;
  /** The wires of the vendors whose API this is. */
  readonly ownWires: readonly WireName[];
  /** @throws LLMInvalidRequestError with the path of the invalid field */
  read(request: HttpRequest): EmbeddingsRequest;
}
