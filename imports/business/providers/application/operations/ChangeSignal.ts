/**
 * Notifies listeners in this process that the providers as users see them may have changed. Changes by other processes
 * are for the host to observe.
 */
import type { CredentialStore } from '../../domain/interfaces/CredentialStore';
import type { ProviderStore } from '../../domain/interfaces/ProviderStore';

export class ChangeSignal {
  private readonly listeners = new Set<() => void>();

  /** @returns unsubscribes */
  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }

  notify(): void {
    for (const listener of this.listeners) listener();
  }

  /** Wraps a store to notify after every write that users may notice. */
  watchProviders(store: ProviderStore): ProviderStore {
    return {
      ...store,
      insert: (provider) => this.after(store.insert(provider)),
      replace: (provider, readAt) => this.after(store.replace(provider, readAt)),
      remove: (providerId) => this.after(store.remove(providerId)),
    };
  }

  /** Wraps a store to notify after every write, except leases and refreshed tokens, which change nothing visible. */
  watchCredentials(store: CredentialStore): CredentialStore {
    return {
      ...store,
      put: (credential) => this.after(store.put(credential)),
      change: (row, change) =>
        change.state === undefined ? store.change(row, change) : this.after(store.change(row, change)),
      take: (id) => this.after(store.take(id)),
    };
  }

  private async after<T>(write: Promise<T>): Promise<T> {
    const result = await write;
    this.notify();
    return result;
  }
}
