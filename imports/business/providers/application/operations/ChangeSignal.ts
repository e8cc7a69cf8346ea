/**
 * Says within this process that what users see of providers may be different now; other processes are the host's
 * observers to watch.
 */
import type { CredentialStore } from '../../domain/interfaces/CredentialStore';
import type { ProviderStore } from '../../domain/interfaces/ProviderStore';

export class ChangeSignal {
  private readonly listeners = new Set<() => void>();

  /** @returns ends the subscription */
  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }

  notify(): void {
    for (const listener of this.listeners) listener();
  }

  /** The same store, and a signal after every write that users may notice. */
  watchProviders(store: ProviderStore): ProviderStore {
    return {
      ...store,
      insert: (provider) => this.after(store.insert(provider)),
      replace: (provider, readAt) => this.after(store.replace(provider, readAt)),
      remove: (providerId) => this.after(store.remove(providerId)),
    };
  }

  /** The same. Leases and refreshed tokens look like what was there before. */
  watchCredentials(store: CredentialStore): CredentialStore {
    return {
      ...store,
      put: (credential) => this.after(store.put(credential)),
      change: (row, change) =>
        change.state === undefined ? store.change(row, change) : this.after(store.change(row, change)),
      take: (id) => this.after(store.take(id)),
    };
  }

  private async after<T>(written: Promise<T>): Promise<T> {
    const result = await written;
    this.notify();
    return result;
  }
}
