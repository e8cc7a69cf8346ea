/** A provider whose row may change between two calls: each call goes by the row as it is then. */
import { LLMModelNotFoundError } from '../../domain/errors/LLMErrors';
import type { ILLMProvider, ModelCapabilities } from '../../domain/interfaces/ILLMProvider';
import type { GenerateOptions } from '../../domain/types/LLMTypes';
import type { LLMResponse } from '../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../domain/types/StreamEvents';
import type { WireName } from '../../domain/types/VendorTypes';
import type { LLMProviderFactory, ProviderSettings } from './LLMProviderFactory';
import type { ProviderSource } from './ProviderSource';

export class StoredProvider implements ILLMProvider {
  private readonly row: ProviderSettings;
  private readonly rows: Pick<ProviderSource, 'known' | 'current'>;
  private readonly factory: LLMProviderFactory;

  constructor(row: ProviderSettings, rows: Pick<ProviderSource, 'known' | 'current'>, factory: LLMProviderFactory) {
    this.row = row;
    this.rows = rows;
    this.factory = factory;
  }

  /** Whether a row leads to the same host as the one that this was made for. */
  goesTo({ vendor, baseURL }: ProviderSettings): boolean {
    return vendor === this.row.vendor && baseURL === this.row.baseURL;
  }

  getProviderName(): string {
    return this.row.id;
  }

  async generate(userId: string, options: GenerateOptions): Promise<LLMResponse> {
    return (await this.current()).generate(userId, options);
  }

  async *stream(userId: string, options: GenerateOptions): AsyncGenerator<ResponseStreamEvent, void, undefined> {
    yield* (await this.current()).stream(userId, options);
  }

  async validateAccess(userId: string): Promise<boolean> {
    return (await this.current()).validateAccess(userId);
  }

  getCapabilities(model: string, wire?: WireName): ModelCapabilities {
    return this.known().getCapabilities(model, wire);
  }

  wireOf(asked?: WireName): WireName | undefined {
    return this.known().wireOf?.(asked);
  }

  async deleteResponse(userId: string, responseId: string): Promise<void> {
    await (await this.current()).deleteResponse?.(userId, responseId);
  }

  private async current(): Promise<ILLMProvider> {
    const { id } = this.row;
    const row = await this.rows.current(id);
    if (row === undefined)
      throw new LLMModelNotFoundError(`The provider '${id}' is not there any more.`, { path: 'model' });
    return this.factory.get(row);
  }

  private known(): ILLMProvider {
    const { id } = this.row;
    return this.factory.get(this.rows.known().find((row) => row.id === id) ?? this.row);
  }
}
