/**
 * Signals to runs: kept in the store when they arrive, and taken by the calls that wait for them, in whichever process
 * has the run. The run's process learns of a signal at once if it received the signal, otherwise with its next
 * heartbeat, and of one whose sender died in between by a search for all calls that wait. A call that looks for its
 * signal first begins to listen, so that none that arrives meanwhile is missed.
 */
import { ConflictError, isStoreOutage } from '../../../../domain/errors/LLMErrors';
import { MAX_SIGNALS } from '../../../../domain/interfaces/RunSignalStore';
import type { RunSignal, RunSignalStore } from '../../../../domain/interfaces/RunSignalStore';
import { runDetached } from '../../shared/runDetached';

/** Milliseconds between two searches. */
const SEARCH_MS = 30_000;
/** How many runs one query asks for. */
const MAX_PER_SEARCH = 1_000;

export class RunSignals {
  private readonly store: RunSignalStore;
  private readonly listeners = new Map<string, Set<() => void>>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(store: RunSignalStore) {
    this.store = store;
  }

  /**
   * @returns `repeated` if the run was sent a signal with this id before
   * @throws ConflictError if the run was sent too many
   */
  async add(signal: RunSignal): Promise<'accepted' | 'repeated'> {
    const added = await this.store.add(signal);
    if (added !== 'full') return added;
    const { executionId } = signal;
    throw new ConflictError(`The run "${executionId}" was sent ${MAX_SIGNALS} signals, and takes no more.`, {
      path: 'executionId',
    });
  }

  take(executionId: string, name: string, callId: string): Promise<RunSignal | undefined> {
    return this.store.take(executionId, name, callId);
  }

  giveBack(executionId: string, callId: string): Promise<void> {
    return this.store.giveBack(executionId, callId);
  }

  /** @param onArrival called after each signal to the run @returns ends it */
  listen(executionId: string, onArrival: () => void): () => void {
    const own = this.listeners.get(executionId) ?? new Set();
    own.add(onArrival);
    this.listeners.set(executionId, own);
    this.schedule();
    return () => {
      own.delete(onArrival);
      if (own.size === 0 && this.listeners.get(executionId) === own) this.listeners.delete(executionId);
      if (this.listeners.size > 0) return;
      clearTimeout(this.timer);
      this.timer = undefined;
    };
  }

  /** A signal to the run may have arrived. */
  arrived(executionId: string): void {
    for (const onArrival of [...(this.listeners.get(executionId) ?? [])]) onArrival();
  }

  private schedule(): void {
    // What the calls wait for keeps the process alive; the search alone must not.
    this.timer ??= runDetached(() => setTimeout(() => void this.search(), SEARCH_MS).unref());
  }

  private async search(): Promise<void> {
    const { timer } = this;
    const executionIds = [...this.listeners.keys()];
    for (let from = 0; from < executionIds.length; from += MAX_PER_SEARCH) {
      const asked = executionIds.slice(from, from + MAX_PER_SEARCH);
      for (const executionId of await this.untakenAmong(asked)) this.arrived(executionId);
    }
    // If nobody waited meanwhile, whoever waits now has begun anew.
    if (this.timer === timer) timer?.refresh();
  }

  private async untakenAmong(executionIds: readonly string[]): Promise<readonly string[]> {
    try {
      return await this.store.untakenAmong(executionIds);
    } catch (error) {
      // The next search comes soon enough. Of what else is wrong, each call learns by its own.
      return isStoreOutage(error) ? [] : executionIds;
    }
  }
}

/** What the signal carries: any JSON value, or undefined. */
export function payloadOf({ payload }: RunSignal): unknown {
  // The sender's process wrote it.
  return payload === undefined ? undefined : JSON.parse(payload);
}
