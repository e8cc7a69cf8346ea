/** Clears the stored counts of takeovers of all runs that have made progress in the same task with one command. */
import type { RunStore } from '../../../../domain/interfaces/RunStore';
import type { RunLease } from '../../../../domain/types/RunRecords';
import { runDetached } from '../../shared/runDetached';

export class ClearedTakeovers {
  private readonly store: Pick<RunStore, 'clearTakeovers'>;
  private leases: RunLease[] = [];
  private clearing: Promise<void> | undefined;

  constructor(store: Pick<RunStore, 'clearTakeovers'>) {
    this.store = store;
  }

  /** Resolves when the store has cleared it. @throws what the store throws */
  add(lease: RunLease): Promise<void> {
    this.leases.push(lease);
    this.clearing ??= runDetached(() => this.clear());
    return this.clearing;
  }

  private async clear(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    const { leases } = this;
    this.leases = [];
    this.clearing = undefined;
    await this.store.clearTakeovers(leases);
  }
}
