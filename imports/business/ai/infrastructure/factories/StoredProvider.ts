/** A provider with stored settings: each call uses the settings as they are at that time. */
import { EventStream } from '../../domain/events/EventStream';
import { LLMModelNotFoundError, UnsupportedFeatureError } from '../../domain/errors/LLMErrors';
import { noEmbeddings } from '../../domain/errors/noEmbeddings';
import type { AccessCheck, ILLMProvider, ModelCapabilities } from '../../domain/interfaces/ILLMProvider';
import type { Embeddings, EmbedOptions } from '../../domain/types/EmbeddingTypes';
import type { RelayRequest, RelayResponse } from '../../domain/types/RelayTypes';
import type { GenerateOptions } from '../../domain/types/LLMTypes';
import type { LLMResponse } from '../../domain/types/ResponsesAPITypes';
import type { WireName } from '../../domain/types/VendorTypes';
import type { LLMProviderFactory, ProviderSettings } from './LLMProviderFactory';
import type { ProviderSource } from './ProviderSource';

export class StoredProvider implements ILLMProvider {
  private readonly settings: ProviderSettings;
  private readonly source: Pick<ProviderSource, 'cached' | 'current'>;
  private readonly factory: LLMProviderFactory;

  constructor(
    settings: ProviderSettings,
    source: Pick<ProviderSource, 'cached' | 'current'>,
    factory: LLMProviderFactory,
  ) {
    this.settings = settings;
    this.source = source;
    this.factory = factory;
  }

  /** Whether other settings lead to the same endpoint. */
  hasSameEndpoint({ vendor, baseURL }: ProviderSettings): boolean {
    return vendor === this.settings.vendor && baseURL === this.settings.baseURL;
  }

  get defaultModel(): string | undefined {
    return this.cached().defaultModel;
  }

  getProviderName(): string {
    return this.settings.id;
  }

  async generate(userId: string, options: GenerateOptions): Promise<LLMResponse> {
    return (await this.current()).generate(userId, options);
  }

  stream(userId: string, options: GenerateOptions): EventStream {
    return EventStream.opening(async () => EventStream.of((await this.current()).stream(userId, options)));
  }

  async validateAccess(userId: string): Promise<AccessCheck> {
    return (await this.current()).validateAccess(userId);
  }

  async listModels(userId: string, signal?: AbortSignal): Promise<readonly string[]> {
    return (await (await this.current()).listModels?.(userId, signal)) ?? [];
  }

  async countTokens(userId: string, options: GenerateOptions): Promise<number | undefined> {
    return (await this.current()).countTokens?.(userId, options);
  }

  /** @throws UnsupportedFeatureError for a provider without embeddings */
  async embed(userId: string, options: EmbedOptions): Promise<Embeddings> {
    const provider = await this.current();
    if (provider.embed === undefined) throw noEmbeddings(provider);
    return provider.embed(userId, options);
  }

  async relay(userId: string, request: RelayRequest): Promise<RelayResponse> {
    const provider = await this.current();
    if (provider.relay !== undefined) return provider.relay(userId, request);
    throw new UnsupportedFeatureError(`Requests to the provider "${this.settings.id}" cannot be relayed.`);
  }

  getCapabilities(model: string, wire?: WireName): ModelCapabilities {
    return this.cached().getCapabilities(model, wire);
  }

  wireOf(requested?: WireName): WireName | undefined {
    return this.cached().wireOf?.(requested);
  }

  async deleteResponse(userId: string, responseId: string): Promise<void> {
    await (await this.current()).deleteResponse?.(userId, responseId);
  }

  private async current(): Promise<ILLMProvider> {
    const { id } = this.settings;
    const settings = await this.source.current(id);
    if (settings === undefined)
      throw new LLMModelNotFoundError(`The provider "${id}" no longer exists.`, { path: 'model' });
    return this.factory.get(settings);
  }

  private cached(): ILLMProvider {
    const { id } = this.settings;
    return this.factory.get(this.source.cached().find((each) => each.id === id) ?? this.settings);
  }
}
