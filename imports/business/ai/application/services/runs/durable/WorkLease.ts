/**
 * What a process does besides runs, and another process takes over if it dies. It has an owner of its own, since it may
 * outlast the runs, which a shutdown hands over first.
 */
import type { Logger } from '../../../../domain/interfaces/Logger';
import type { RunStore } from '../../../../domain/interfaces/RunStore';
import { LeaseHeartbeat } from './LeaseHeartbeat';
import type { HeartbeatHandler, LeaseTimes } from './LeaseHeartbeat';

export class WorkLease implements HeartbeatHandler {
  private readonly heartbeats: LeaseHeartbeat;
  private readonly logger: Logger;
  /** Ids of the work in progress. */
  private readonly work = new Set<string>();
  private isClosed = false;

  constructor(store: RunStore, times: LeaseTimes, logger: Logger) {
    this.heartbeats = new LeaseHeartbeat(store, this, times, logger);
    this.logger = logger;
  }

  get ownerId(): string {
    return this.heartbeats.id;
  }

  get size(): number {
    return this.work.size;
  }

  has(id: string): boolean {
    return this.work.has(id);
  }

  /** Does the work while this process counts as alive. @throws what the work throws; what the store throws before */
  async run<T>(id: string, work: () => Promise<T>): Promise<T> {
    this.work.add(id);
    try {
      await this.heartbeats.start();
      return await work();
    } finally {
      this.work.delete(id);
      if (this.isClosed) await this.releaseIfIdle();
    }
  }

  /** The owner leaves as soon as its work has ended. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.releaseIfIdle();
  }

  heartbeat(): void {
    // Work is claimed by its own stores, which refuse those who have lost it.
  }

  apply(): void {
    // Commands are for runs.
  }

  checkLeases(): Promise<void> {
    return Promise.resolve();
  }

  private async releaseIfIdle(): Promise<void> {
    if (this.work.size > 0) return;
    try {
      await this.heartbeats.release();
    } catch (error) {
      this.logger.warn('Could not remove this process from the owners. It counts as lost within a lease.', error);
    }
  }
}
