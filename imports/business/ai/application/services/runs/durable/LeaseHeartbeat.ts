/**
 * This process as an owner of runs: while it has any it says once a second that it lives, and looks for what other
 * processes want of them. One timer for all runs, however many there are. Times are measured, never compared
 * between machines.
 */
import { randomUUID } from 'node:crypto';
import type { Logger } from '../../../../domain/interfaces/Logger';
import type { RunStore } from '../../../../domain/interfaces/RunStore';
import type { RunCommand } from '../../../../domain/types/RunRecords';

export interface LeaseTimes {
  /** Milliseconds without a sign of life after which an owner's runs may be taken. */
  readonly lease: number;
  /** Milliseconds between two signs of life. */
  readonly heartbeat: number;
}

export const DEFAULT_LEASE_TIMES: LeaseTimes = { lease: 15_000, heartbeat: 1_000 };

/** What is done with every heartbeat. */
export interface LeasedRuns {
  readonly size: number;
  /** Writes what is written now and then. */
  heartbeat(): void;
  apply(command: RunCommand): void;
  /** Gives up the runs that have other owners by now. */
  checkLeases(): Promise<void>;
}

/** A watcher that took the silence for an end may be about to take the runs while the first look is made. */
const CHECKS = 3;
/** Commands that are read at once. */
const COMMANDS = 1_000;

export class LeaseHeartbeat {
  readonly id = randomUUID();
  private readonly store: RunStore;
  private readonly runs: LeasedRuns;
  private readonly times: LeaseTimes;
  private readonly logger: Logger;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private first: Promise<void> | undefined;
  private saidAt = -Infinity;
  /** How often the runs are still looked after. */
  private pendingChecks = 0;

  constructor(store: RunStore, runs: LeasedRuns, times: LeaseTimes, logger: Logger) {
    this.store = store;
    this.runs = runs;
    this.times = times;
    this.logger = logger;
  }

  /** Resolves when others can know that this owner lives: then it may have runs. */
  async start(): Promise<void> {
    if (this.timer !== undefined) return;
    this.first ??= this.renew();
    try {
      await this.first;
    } finally {
      this.first = undefined;
    }
    this.schedule();
  }

  /** Nobody can have taken a run: this owner has never been silent for a lease, or has looked after its runs since. */
  isLeaseCurrent(): boolean {
    return this.store.isExclusive || (this.pendingChecks === 0 && this.isOnTime());
  }

  /** What is left here may be taken at once. */
  async release(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (!this.store.isExclusive) await this.store.removeOwner(this.id);
  }

  private schedule(): void {
    if (this.timer !== undefined) return;
    this.timer = setTimeout(() => void this.tick(), this.times.heartbeat);
    // Runs keep the process alive by what they wait for; this alone does not.
    this.timer.unref();
  }

  private async tick(): Promise<void> {
    try {
      if (!this.isOnTime()) this.pendingChecks = CHECKS;
      await this.renew();
      if (this.pendingChecks > 0) {
        await this.runs.checkLeases();
        this.pendingChecks -= 1;
      }
      this.runs.heartbeat();
      for (const command of await this.store.commands(COMMANDS)) this.runs.apply(command);
    } catch (error) {
      this.logger.error('the heartbeat of this process’s runs failed and is tried again', error);
    }
    // `leave` has taken it away.
    if (this.timer === undefined) return;
    this.timer = undefined;
    if (this.runs.size > 0) this.schedule();
  }

  private isOnTime(): boolean {
    return performance.now() - this.saidAt < this.times.lease;
  }

  private async renew(): Promise<void> {
    const since = performance.now();
    if (!this.store.isExclusive) await this.store.heartbeat(this.id);
    this.saidAt = since;
  }
}
