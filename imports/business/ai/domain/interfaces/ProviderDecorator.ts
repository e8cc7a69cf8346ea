/** The part of a provider's decorators that is passed on as it is. What calls a model is for each of them to decide. */
import type { AccessCheck, ILLMProvider, ModelCapabilities, ModelRoute } from './ILLMProvider';
import type { GenerateOptions } from '../types/LLMTypes';
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
