/** The module's providers: those of its settings, and stored ones, which come and go at run time. */
import { LLMInvalidRequestError } from '../../domain/errors/LLMErrors';
import type { ILLMProvider } from '../../domain/interfaces/ILLMProvider';
import type { ProviderDirectory } from '../../domain/interfaces/ProviderDirectory';
import { offeredModels } from '../../application/operations/offeredModels';
import { VENDOR_ROWS } from '../vendors/vendors';
import { StoredProvider } from './StoredProvider';
import type { LLMProviderFactory, ProviderSettings } from './LLMProviderFactory';
import type { ProviderSource } from './ProviderSource';

export interface CatalogSettings {
  readonly providers: readonly ProviderSettings[];
  readonly defaultProvider?: string;
}

const NO_ROWS: readonly ProviderSettings[] = [];

export class ProviderCatalog implements ProviderDirectory {
  private readonly defaultId: string | undefined;
  private readonly configured: ReadonlyMap<string, { readonly row: ProviderSettings; readonly provider: ILLMProvider }>;
  private readonly factory: LLMProviderFactory;
  private readonly source: ProviderSource | undefined;
  private readonly storedProviders = new Map<string, StoredProvider>();
  private listed:
    | { readonly stored: readonly ProviderSettings[]; readonly rows: readonly ProviderSettings[] }
    | undefined;

  /** @throws LLMInvalidRequestError for invalid settings, an unknown default, or no provider at all without a source */
  constructor({ providers, defaultProvider }: CatalogSettings, factory: LLMProviderFactory, source?: ProviderSource) {
    if (providers.length === 0 && source === undefined)
      throw new LLMInvalidRequestError(
        'No provider is configured. Set a vendor key, or pass a provider in the settings.',
        { path: 'providers' },
      );
    const configured = new Map<string, { readonly row: ProviderSettings; readonly provider: ILLMProvider }>();
    providers.forEach((row, index) => {
      if (configured.has(row.id))
        throw new LLMInvalidRequestError(`Two providers have the id "${row.id}". Ids must be unique.`, {
          path: `providers[${index}].id`,
        });
      configured.set(row.id, { row, provider: factory.get(row) });
    });
    if (defaultProvider !== undefined && !configured.has(defaultProvider) && source === undefined) {
      throw new LLMInvalidRequestError(
        `The default provider "${defaultProvider}" is not configured. Configured: ${[...configured.keys()].join(', ')}.`,
        {
          path: 'defaultProvider',
        },
      );
    }
    this.configured = configured;
    this.defaultId = defaultProvider;
    this.factory = factory;
    this.source = source;
  }

  /** The current settings, the default provider's first. Configured providers hide stored ones with the same id. */
  rows(): readonly ProviderSettings[] {
    const stored = this.source?.cached() ?? NO_ROWS;
    if (this.listed?.stored !== stored) this.listed = { stored, rows: this.ordered(stored) };
    return this.listed.rows;
  }

  get(id: string): ILLMProvider | undefined {
    const configured = this.configured.get(id);
    if (configured !== undefined) return configured.provider;
    const row = this.rows().find((each) => each.id === id);
    if (row === undefined || this.source === undefined) {
      this.evict(id);
      return undefined;
    }
    const existing = this.storedProviders.get(id);
    if (existing?.hasSameEndpoint(row) === true) return existing;
    const created = new StoredProvider(row, this.source, this.factory);
    this.storedProviders.set(id, created);
    return created;
  }

  has(id: string): boolean {
    return this.rows().some((row) => row.id === id);
  }

  /** The model that a request for the provider gets without naming one. Undefined if only the vendor knows it. */
  defaultModelOf(id: string): string | undefined {
    const row = this.rows().find((each) => each.id === id);
    return row === undefined ? undefined : offeredModels(row, VENDOR_ROWS[row.vendor]).defaultModel;
  }

  keys(): Iterable<string> {
    return this.rows().map(({ id }) => id);
  }

  refresh(): Promise<void> {
    return this.source?.refresh() ?? Promise.resolve();
  }

  private ordered(stored: readonly ProviderSettings[]): readonly ProviderSettings[] {
    const rows = [
      ...Array.from(this.configured.values(), ({ row }) => row),
      ...stored.filter(({ id }) => !this.configured.has(id)),
    ];
    const first = rows.findIndex(({ id }) => id === this.defaultId);
    return first <= 0 ? rows : [...rows.splice(first, 1), ...rows];
  }

  private evict(id: string): void {
    if (this.storedProviders.delete(id)) this.factory.remove(id);
  }
}
