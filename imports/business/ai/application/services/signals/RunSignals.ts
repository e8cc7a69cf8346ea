/**
 * Signals to runs: kept in the store when they arrive, and taken by the calls that wait for them, in whichever process
 * has the run. The run's process learns of a signal at once if it received the signal, otherwise with its next
 * heartbeat. A call that looks for its signal first begins to listen, so that none that arrives meanwhile is missed.
 */
import { ConflictError } from '../../../domain/errors/LLMErrors';
import { MAX_SIGNALS } from '../../../domain/interfaces/RunSignalStore';
import type { RunSignal, RunSignalStore } from '../../../domain/interfaces/RunSignalStore';

export class RunSignals {
  private readonly store: RunSignalStore;
  private readonly listeners = new Map<string, Set<() => void>>();

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
    return () => {
      own.delete(onArrival);
      if (own.size === 0 && this.listeners.get(executionId) === own) this.listeners.delete(executionId);
    };
  }

  /** A signal to the run may have arrived. */
  arrived(executionId: string): void {
    for (const onArrival of [...(this.listeners.get(executionId) ?? [])]) onArrival();
  }
}

/** What the signal carries: any JSON value, or undefined. */
export function payloadOf({ payload }: RunSignal): unknown {
  // The sender's process wrote it.
  return payload === undefined ? undefined : JSON.parse(payload);
}
