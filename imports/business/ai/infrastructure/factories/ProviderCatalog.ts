/**
 * The module's providers: those of its settings, and those that are kept elsewhere and come and go while the app
 * runs.
 */
import { LLMInvalidRequestError } from '../../domain/errors/LLMErrors';
import type { ILLMProvider } from '../../domain/interfaces/ILLMProvider';
import type { ProviderDirectory } from '../../domain/interfaces/ProviderDirectory';
import { StoredProvider } from './StoredProvider';
import type { LLMProviderFactory, ProviderSettings } from './LLMProviderFactory';
import type { ProviderSource } from './ProviderSource';

export interface CatalogSettings {
  readonly providers: readonly ProviderSettings[];
  readonly defaultProvider?: string;
}

export class ProviderCatalog implements ProviderDirectory {
  private readonly defaultId: string | undefined;
  private readonly fixed: ReadonlyMap<string, { readonly row: ProviderSettings; readonly provider: ILLMProvider }>;
  private readonly factory: LLMProviderFactory;
  private readonly kept: ProviderSource | undefined;
  private readonly objects = new Map<string, StoredProvider>();

  /**
   * @throws LLMInvalidRequestError for rows and a default that cannot work, and for no row at all where nothing is
   * kept
   */
  constructor({ providers, defaultProvider }: CatalogSettings, factory: LLMProviderFactory, kept?: ProviderSource) {
    if (providers.length === 0 && kept === undefined)
      throw new LLMInvalidRequestError('no provider is configured', { path: 'providers' });
    const fixed = new Map<string, { readonly row: ProviderSettings; readonly provider: ILLMProvider }>();
    providers.forEach((row, index) => {
      if (fixed.has(row.id))
        throw new LLMInvalidRequestError(`two providers are called '${row.id}'`, { path: `providers[${index}].id` });
      fixed.set(row.id, { row, provider: factory.get(row) });
    });
    if (defaultProvider !== undefined && !fixed.has(defaultProvider) && kept === undefined) {
      throw new LLMInvalidRequestError(`the default provider '${defaultProvider}' is not configured`, {
        path: 'defaultProvider',
      });
    }
    this.fixed = fixed;
    this.defaultId = defaultProvider;
    this.factory = factory;
    this.kept = kept;
  }

  /** What is known now, the default one first; the settings' own win where two have one id. */
  rows(): readonly ProviderSettings[] {
    const rows = [...Array.from(this.fixed.values(), ({ row }) => row), ...this.keptRows()];
    const first = rows.findIndex(({ id }) => id === this.defaultId);
    return first <= 0 ? rows : [...rows.splice(first, 1), ...rows];
  }

  get(id: string): ILLMProvider | undefined {
    const fixed = this.fixed.get(id);
    if (fixed !== undefined) return fixed.provider;
    const row = this.keptRows().find((each) => each.id === id);
    if (row === undefined || this.kept === undefined) {
      this.forget(id);
      return undefined;
    }
    const known = this.objects.get(id);
    if (known?.goesTo(row) === true) return known;
    const made = new StoredProvider(row, this.kept, this.factory);
    this.objects.set(id, made);
    return made;
  }

  has(id: string): boolean {
    return this.fixed.has(id) || this.keptRows().some((row) => row.id === id);
  }

  keys(): Iterable<string> {
    return this.rows().map(({ id }) => id);
  }

  async refresh(): Promise<void> {
    await this.kept?.refresh();
  }

  private keptRows(): readonly ProviderSettings[] {
    return (this.kept?.known() ?? []).filter(({ id }) => !this.fixed.has(id));
  }

  private forget(id: string): void {
    if (this.objects.delete(id)) this.factory.remove(id);
  }
}
