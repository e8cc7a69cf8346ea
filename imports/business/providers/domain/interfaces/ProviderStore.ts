/** Where providers are kept. */
import type { Provider } from '../entities/Provider';

export interface ProviderStore {
  find(providerId: string): Promise<Provider | undefined>;
  all(): Promise<readonly Provider[]>;
  /** @throws ConflictError when the id is taken */
  insert(provider: Provider): Promise<void>;
  /** @returns false when the provider is gone or was changed since it was read */
  replace(provider: Provider, readAt: number): Promise<boolean>;
  remove(providerId: string): Promise<boolean>;
}
