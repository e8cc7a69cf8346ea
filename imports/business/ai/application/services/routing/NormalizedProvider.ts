/** Decorates a provider so that every response is complete: the one place where a foreign provider's output enters. */
import type { ILLMProvider, ModelCapabilities } from '../../../domain/interfaces/ILLMProvider';
import type { GenerateOptions } from '../../../domain/types/LLMTypes';
import type { LLMResponse } from '../../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../domain/types/StreamEvents';
import type { WireName } from '../../../domain/types/VendorTypes';
import { normalizeResponse } from './normalizeResponse';

export class NormalizedProvider implements ILLMProvider {
  private readonly provider: ILLMProvider;

  constructor(provider: ILLMProvider) {
    this.provider = provider;
  }

  getProviderName(): string {
    return this.provider.getProviderName();
  }

  /** @throws LLMServerError if the provider returns no response object; whatever the provider throws */
  async generate(userId: string, options: GenerateOptions): Promise<LLMResponse> {
    return this.normalize(await this.provider.generate(userId, options));
  }

  async *stream(userId: string, options: GenerateOptions): AsyncGenerator<ResponseStreamEvent, void, undefined> {
    for await (const event of this.provider.stream(userId, options))
      yield event.type === 'response.completed' ? { ...event, response: this.normalize(event.response) } : event;
  }

  validateAccess(userId: string): Promise<boolean> {
    return this.provider.validateAccess(userId);
  }

  getCapabilities(model: string, wire?: WireName): ModelCapabilities {
    return this.provider.getCapabilities(model, wire);
  }

  async deleteResponse(userId: string, responseId: string): Promise<void> {
    await this.provider.deleteResponse?.(userId, responseId);
  }

  private normalize(response: LLMResponse): LLMResponse {
    return normalizeResponse(response, this.getProviderName());
  }
}
