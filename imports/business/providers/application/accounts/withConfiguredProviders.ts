/** Adds the providers of the server's settings to the stored ones: read like any other, but never written. */
import { ConflictError } from '../../../ai/domain/errors/LLMErrors';
import type { Provider } from '../../domain/entities/Provider';
import type { ProviderStore } from '../../domain/interfaces/ProviderStore';

export function withConfiguredProviders(store: ProviderStore, configured: readonly Provider[]): ProviderStore {
  const byId = new Map(configured.map((provider) => [provider._id, { ...provider, configured: true as const }]));
  /** The list that the last stored one has become. A store returns the same one until something changes. */
  let known: { readonly stored: readonly Provider[]; readonly all: readonly Provider[] } | undefined;
  return {
    ...store,
    find: async (providerId) => byId.get(providerId) ?? store.find(providerId),
    all: async () => {
      const stored = await store.all();
      if (known?.stored !== stored)
        known = { stored, all: [...byId.values(), ...stored.filter(({ _id }) => !byId.has(_id))] };
      return known.all;
    },
    insert: async (provider) => {
      if (byId.has(provider._id))
        throw new ConflictError(`Provider "${provider._id}" already exists in the server's settings.`);
      await store.insert(provider);
    },
  };
}
