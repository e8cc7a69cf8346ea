/**
 * Keeps this process's leases alive. While the process owns runs, it increments its heartbeat count in the store once a
 * second and reads the commands for its runs. One timer serves all runs. Durations are measured locally and never
 * compared between machines.
 */
import { randomUUID } from 'node:crypto';
import type { Logger } from '../../../../domain/interfaces/Logger';
import type { RunStore } from '../../../../domain/interfaces/RunStore';
import type { RunCommand } from '../../../../domain/types/RunRecords';
import { runDetached } from '../../shared/runDetached';

export interface LeaseTimes {
  /** Milliseconds without a heartbeat after which an owner's runs may be claimed. */
  readonly lease: number;
  /** Milliseconds between two heartbeats. */
  readonly heartbeat: number;
}

export const DEFAULT_LEASE_TIMES: LeaseTimes = { lease: 15_000, heartbeat: 1_000 };

/** The owner's side of a heartbeat. */
export interface HeartbeatHandler {
  /** The number of runs that the process owns. The heartbeat stops at 0. */
  readonly size: number;
  /** Called with every heartbeat. */
  heartbeat(): void;
  apply(command: RunCommand): void;
  /** Gives up the runs that have another owner by now. */
  checkLeases(): Promise<void>;
}

/**
 * How many times leases are checked after a late heartbeat. Once is not enough: another process that noticed the
 * missing heartbeat may claim the runs while the first check is in progress.
 */
const CHECKS_AFTER_DELAY = 3;
/** How many commands are read at once. */
const COMMAND_LIMIT = 1_000;

export class LeaseHeartbeat {
  /** This process's id as an owner. */
  readonly id = randomUUID();
  private readonly store: RunStore;
  private readonly handler: HeartbeatHandler;
  private readonly times: LeaseTimes;
  private readonly logger: Logger;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private firstRenewal: Promise<void> | undefined;
  private renewedAt = -Infinity;
  private pendingChecks = 0;

  constructor(store: RunStore, handler: HeartbeatHandler, times: LeaseTimes, logger: Logger) {
    this.store = store;
    this.handler = handler;
    this.times = times;
    this.logger = logger;
  }

  /** Resolves when the first heartbeat is in the store: from then on the process may own runs. */
  async start(): Promise<void> {
    if (this.timer !== undefined) return;
    this.firstRenewal ??= runDetached(() => this.renew());
    try {
      await this.firstRenewal;
    } finally {
      this.firstRenewal = undefined;
    }
    runDetached(() => this.schedule());
  }

  /** No run can have been claimed: no heartbeat was later than a lease lasts, or leases were checked since. */
  isLeaseCurrent(): boolean {
    return this.store.isExclusive || (this.pendingChecks === 0 && this.isOnTime());
  }

  /** Stops the heartbeat and removes the owner, so that its runs may be claimed at once. */
  async release(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (!this.store.isExclusive) await this.store.removeOwner(this.id);
  }

  private schedule(): void {
    if (this.timer !== undefined) return;
    this.timer = setTimeout(() => void this.tick(), this.times.heartbeat);
    // What a run waits for keeps the process alive; the heartbeat alone must not.
    this.timer.unref();
  }

  private async tick(): Promise<void> {
    try {
      if (!this.isOnTime()) this.pendingChecks = CHECKS_AFTER_DELAY;
      await this.renew();
      if (this.pendingChecks > 0) {
        await this.handler.checkLeases();
        this.pendingChecks -= 1;
      }
      this.handler.heartbeat();
      for (const command of await this.store.commands(COMMAND_LIMIT)) this.handler.apply(command);
    } catch (error) {
      this.logger.error('The run heartbeat failed and will be retried.', error);
    }
    // Unless `release` was called meanwhile.
    if (this.handler.size > 0) this.timer?.refresh();
    else this.timer = undefined;
  }

  private isOnTime(): boolean {
    return performance.now() - this.renewedAt < this.times.lease;
  }

  private async renew(): Promise<void> {
    const startedAt = performance.now();
    if (!this.store.isExclusive) await this.store.heartbeat(this.id);
    this.renewedAt = startedAt;
  }
}
