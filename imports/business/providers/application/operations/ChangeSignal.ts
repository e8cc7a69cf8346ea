/**
 * Notifies listeners in this process that the providers as users see them may have changed. Changes by other processes
 * are for the host to observe.
 */
import type { EventLog } from '../../domain/interfaces/EventLog';
import type { CredentialStore } from '../../domain/interfaces/CredentialStore';
import type { ProviderStore } from '../../domain/interfaces/ProviderStore';

export interface ChangeSignalOptions {
  /** Announces a change of credentials to the other processes. Absent: there are none. */
  readonly announce?: () => Promise<void>;
  readonly log: EventLog;
}

export class ChangeSignal {
  private readonly options: ChangeSignalOptions;
  private readonly listeners = new Set<() => void>();

  constructor(options: ChangeSignalOptions) {
    this.options = options;
  }

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

  /**
   * Wraps a store to notify, and to announce to other processes, after every write except leases and refreshed tokens,
   * which change nothing visible.
   */
  watchCredentials(store: CredentialStore): CredentialStore {
    return {
      ...store,
      put: (credential) => this.announced(store.put(credential)),
      add: (credential) => this.announced(store.add(credential)),
      change: (row, change) =>
        change.state === undefined ? store.change(row, change) : this.announced(store.change(row, change)),
      take: (id) => this.announced(store.take(id)),
    };
  }

  private async announced<T>(write: Promise<T>): Promise<T> {
    const result = await this.after(write);
    try {
      await this.options.announce?.();
    } catch (error) {
      // The change is stored. Other processes show it when a client subscribes again, or with the next change.
      this.options.log.warn('change:not-announced', { reason: error instanceof Error ? error.message : String(error) });
    }
    return result;
  }

  private async after<T>(write: Promise<T>): Promise<T> {
    const result = await write;
    this.notify();
    return result;
  }
}
