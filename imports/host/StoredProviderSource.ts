/** Feeds the provider system's stored providers to the AI module, which reads the current state for each call. */
import { isStoreOutage } from '../business/ai/domain/errors/LLMErrors';
import { omitUndefined } from '../business/ai/domain/util/omitUndefined';
import type { ProviderSettings } from '../business/ai/infrastructure/factories/LLMProviderFactory';
import type { PrivateHosts } from '../business/ai/infrastructure/clients/http/privateHosts';
import type { ProviderSource } from '../business/ai/infrastructure/factories/ProviderSource';
import type { Provider } from '../business/providers/domain/entities/Provider';
import type { ProvidersModule } from '../business/providers/infrastructure/factories/createProvidersModule';

interface CacheEntry {
  readonly provider: Provider;
  /** Absent for a provider of the server's settings and for a disabled one. */
  readonly row?: ProviderSettings;
}

export class StoredProviderSource implements ProviderSource {
  private readonly providers: Pick<ProvidersModule, 'service' | 'credentials'>;
  private readonly allowPrivateHosts: PrivateHosts;
  private cache: ReadonlyMap<string, CacheEntry> = new Map();
  /** The settings in the cache. */
  private rows: readonly ProviderSettings[] = [];
  /** What the store returned last. */
  private listed: readonly Provider[] | undefined;
  private reading: Promise<void> | undefined;
  private next: Promise<void> | undefined;

  /** @param allowPrivateHosts permits http and private addresses in base URLs */
  constructor(providers: Pick<ProvidersModule, 'service' | 'credentials'>, allowPrivateHosts: PrivateHosts) {
    this.providers = providers;
    this.allowPrivateHosts = allowPrivateHosts;
  }

  cached(): readonly ProviderSettings[] {
    return this.rows;
  }

  async current(id: string): Promise<ProviderSettings | undefined> {
    await this.find(id);
    return this.cache.get(id)?.row;
  }

  /** Reads one provider of either kind from the store; during an outage, as it was read last. */
  async find(id: string): Promise<Provider | undefined> {
    let provider: Provider | undefined;
    try {
      provider = await this.providers.service.find(id);
    } catch (error) {
      const known = this.lastRead(id);
      if (!isStoreOutage(error) || known === undefined) throw error;
      return known;
    }
    const entry = provider === undefined ? undefined : this.entry(provider);
    if (entry === this.cache.get(id)) return provider;
    const known = new Map(this.cache);
    if (entry === undefined) known.delete(id);
    else known.set(id, entry);
    this.remember(known);
    return provider;
  }

  /** One provider as last read. */
  lastRead(id: string): Provider | undefined {
    return this.cache.get(id)?.provider;
  }

  /** Whether there is no provider at all, neither in the settings nor in the store. Reads the store if so. */
  async isEmpty(): Promise<boolean> {
    if (this.cache.size === 0) await this.refresh();
    return this.cache.size === 0;
  }

  /**
   * Reads all providers; during an outage, they stay as they were read last. The read starts after the call; calls
   * during a read share the next one.
   */
  refresh(): Promise<void> {
    if (this.reading === undefined) return this.read();
    this.next ??= this.reading
      .catch(() => undefined)
      .then(() => {
        this.next = undefined;
        return this.read();
      });
    return this.next;
  }

  private read(): Promise<void> {
    this.reading = this.readAll();
    return this.reading;
  }

  private async readAll(): Promise<void> {
    let providers: Awaited<ReturnType<ProvidersModule['service']['all']>>;
    try {
      providers = await this.providers.service.all();
    } catch (error) {
      if (isStoreOutage(error) && this.listed !== undefined) return;
      throw error;
    } finally {
      this.reading = undefined;
    }
    if (providers === this.listed) return;
    this.listed = providers;
    this.remember(new Map(providers.map((provider) => [provider._id, this.entry(provider)])));
  }

  private remember(cache: ReadonlyMap<string, CacheEntry>): void {
    const before = [...this.cache.values()];
    const now = [...cache.values()];
    if (now.length === before.length && now.every((entry, at) => entry === before[at])) return;
    this.cache = cache;
    this.rows = now.flatMap(({ row }) => (row === undefined ? [] : [row]));
  }

  private entry(provider: Provider): CacheEntry {
    const before = this.cache.get(provider._id);
    if (before?.provider.updatedAt === provider.updatedAt && before.provider.createdAt === provider.createdAt)
      return before;
    return provider.configured === true || !provider.enabled ? { provider } : { provider, row: this.rowOf(provider) };
  }

  private rowOf(provider: Provider): ProviderSettings {
    const {
      _id,
      vendor,
      wire,
      baseURL,
      deployment,
      apiVersion,
      defaultModel,
      allowedModels,
      sharedObjects,
      hostedTools,
    } = provider;
    return omitUndefined({
      id: _id,
      vendor,
      credentials: this.providers.credentials.boundTo(provider),
      allowPrivateHosts: this.allowPrivateHosts,
      wire,
      baseURL,
      deployment,
      apiVersion,
      defaultModel,
      allowedModels,
      sharedObjects,
      hostedTools,
    });
  }
}
