/** Creates providers from settings that may change at run time: one per id, recreated when its settings change. */
import type { CredentialSource } from '../../domain/interfaces/CredentialSource';
import type { ILLMProvider } from '../../domain/interfaces/ILLMProvider';
import { omitUndefined } from '../../domain/util/omitUndefined';
import type { ModelOverrides } from '../vendors/readModelOverrides';
import { createProvider } from './createProvider';
import type { CreateProviderOptions } from './createProvider';

export interface ProviderSettings extends CreateProviderOptions {
  readonly id: string;
  /** The only models that may be requested. Absent: any. */
  readonly allowedModels?: readonly string[];
  /**
   * What everyone may name of the objects in the account, such as a vector store: ids, or the beginnings of ids with a
   * `*`. Default: everyone may name what they made.
   */
  readonly sharedObjects?: readonly string[];
  /** The only tools of the vendor's own that callers may use, such as `web_search`. Default: all. */
  readonly hostedTools?: readonly string[];
  /**
   * Sources of regular expressions for model names that mean this provider even if the caller names no provider.
   * Default: the vendor's patterns.
   */
  readonly modelPatterns?: readonly string[];
}

export class LLMProviderFactory {
  private readonly cache = new Map<string, { readonly fingerprint: string; readonly provider: ILLMProvider }>();
  private readonly credentials: CredentialSource | undefined;
  private readonly models: ModelOverrides;

  /**
   * @param credentials the source of tokens for settings without a key
   * @param models for all providers of a vendor
   */
  constructor(credentials?: CredentialSource, models: ModelOverrides = {}) {
    this.credentials = credentials;
    this.models = models;
  }

  /** @throws LLMInvalidRequestError for invalid settings */
  get(settings: ProviderSettings): ILLMProvider {
    const fingerprint = JSON.stringify(settings);
    const cached = this.cache.get(settings.id);
    if (cached?.fingerprint === fingerprint) return cached.provider;
    const credentials =
      settings.apiKey === undefined ? (settings.credentials ?? this.credentials) : settings.credentials;
    const models = [...(settings.models ?? []), ...(this.models[settings.vendor] ?? [])];
    const provider = createProvider({
      ...settings,
      ...omitUndefined({ credentials }),
      ...(models.length === 0 ? {} : { models }),
    });
    this.cache.set(settings.id, { fingerprint, provider });
    return provider;
  }

  /** Drops the provider of removed settings. */
  remove(id: string): void {
    this.cache.delete(id);
  }
}
