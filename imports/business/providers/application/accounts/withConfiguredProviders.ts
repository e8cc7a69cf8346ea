/** Providers of the server's own settings beside those that are kept: seen like all others, never written. */
import { ConflictError } from '../../../ai/domain/errors/LLMErrors';
import type { Provider } from '../../domain/entities/Provider';
import type { ProviderStore } from '../../domain/interfaces/ProviderStore';

export function withConfiguredProviders(store: ProviderStore, fixed: readonly Provider[]): ProviderStore {
  const byId = new Map(fixed.map((provider) => [provider._id, { ...provider, fixed: true as const }]));
  return {
    ...store,
    find: async (providerId) => byId.get(providerId) ?? store.find(providerId),
    all: async () => [...byId.values(), ...(await store.all()).filter(({ _id }) => !byId.has(_id))],
    insert: async (provider) => {
      if (byId.has(provider._id))
        throw new ConflictError(`The server's settings have a provider '${provider._id}' already.`);
      await store.insert(provider);
    },
  };
}
