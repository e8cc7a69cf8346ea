/** The part of a provider's decorators that is passed on as it is. What calls a model is for each of them to decide. */
import { noEmbeddings, noRelay } from '../errors/noEmbeddings';
import type { Embeddings, EmbedOptions } from '../types/EmbeddingTypes';
import type { AccessCheck, ILLMProvider, ModelCapabilities, ModelRoute } from './ILLMProvider';
import type { GenerateOptions } from '../types/LLMTypes';
import type { RelayCall, RelayResponse } from '../types/RelayTypes';
import type { LLMResponse } from '../types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../types/StreamEvents';
import type { WireName } from '../types/VendorTypes';

export abstract class ProviderDecorator<P extends ILLMProvider = ILLMProvider> implements ILLMProvider {
  readonly retriesFailedCalls: boolean;
  protected readonly provider: P;

  constructor(provider: P) {
    this.provider = provider;
    this.retriesFailedCalls = provider.retriesFailedCalls ?? false;
  }

  abstract generate(userId: string, options: GenerateOptions): Promise<LLMResponse>;
  abstract stream(userId: string, options: GenerateOptions): AsyncIterable<ResponseStreamEvent>;

  /** @throws UnsupportedFeatureError for a provider without embeddings */
  embed(userId: string, options: EmbedOptions): Promise<Embeddings> {
    return this.provider.embed?.(userId, options) ?? Promise.reject(noEmbeddings(this.provider));
  }

  /** @throws UnsupportedFeatureError for a provider that relays nothing */
  relay(userId: string, request: RelayCall): Promise<RelayResponse> {
    return this.provider.relay?.(userId, request) ?? Promise.reject(noRelay(this.provider));
  }

  getProviderName(): string {
    return this.provider.getProviderName();
  }

  routeOf(model: string | undefined): ModelRoute | undefined {
    return this.provider.routeOf?.(model);
  }

  validateAccess(userId: string): Promise<AccessCheck> {
    return this.provider.validateAccess(userId);
  }

  getCapabilities(model: string, wire?: WireName): ModelCapabilities {
    return this.provider.getCapabilities(model, wire);
  }

  async deleteResponse(userId: string, responseId: string): Promise<void> {
    await this.provider.deleteResponse?.(userId, responseId);
  }
}
