/** Stores providers. */
import type { Provider } from '../entities/Provider';

export interface ProviderStore {
  find(providerId: string): Promise<Provider | undefined>;
  all(): Promise<readonly Provider[]>;
  /** @throws ConflictError if the id is taken */
  insert(provider: Provider): Promise<void>;
  /** @param readAt `updatedAt` as read @returns false if the provider was removed or changed since then */
  replace(provider: Provider, readAt: number): Promise<boolean>;
  remove(providerId: string): Promise<boolean>;
}
