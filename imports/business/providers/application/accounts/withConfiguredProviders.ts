/** Adds the providers of the server's settings to the stored ones: read like any other, but never written. */
import { ConflictError } from '../../../ai/domain/errors/LLMErrors';
import type { Provider } from '../../domain/entities/Provider';
import type { ProviderStore } from '../../domain/interfaces/ProviderStore';

export function withConfiguredProviders(store: ProviderStore, configured: readonly Provider[]): ProviderStore {
  const byId = new Map(configured.map((provider) => [provider._id, { ...provider, configured: true as const }]));
  return {
    ...store,
    find: async (providerId) => byId.get(providerId) ?? store.find(providerId),
    all: async () => [...byId.values(), ...(await store.all()).filter(({ _id }) => !byId.has(_id))],
    insert: async (provider) => {
      if (byId.has(provider._id))
        throw new ConflictError(`Provider "${provider._id}" already exists in the server's settings.`);
      await store.insert(provider);
    },
  };
}
