/**
 * Decides which queued run starts next. Users take turns, each of their runs has its turn by priority, and limits hold
 * for all processes together. A run that only waits for people and other services counts against no limit.
 */
import { randomUUID } from 'node:crypto';
import { isStoreOutage } from '../../../domain/errors/LLMErrors';
import type { HeldQueueLock, QueueLock, QueueTurn, RunStore } from '../../../domain/interfaces/RunStore';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { QueuedRunHead } from '../../../domain/types/RunRecords';
import type { AgenticLoop, StartedRun } from '../AgenticLoop';
import { KeyedQueue } from '../shared/KeyedQueue';
import { sleep } from '../shared/time';

export interface RunSchedulerOptions {
  readonly loop: Pick<AgenticLoop, 'claims'>;
  readonly store: Pick<RunStore, 'nextQueued' | 'working' | 'queueLock'>;
  /** How many runs of one user may be at work. Absent: any number. */
  readonly concurrencyPerUser?: number | undefined;
}

/** `empty`: no run waits, or only for its time. `limited`: those that wait are held back by limits. */
export type NextRun = StartedRun | 'empty' | 'limited';

/** Milliseconds between two attempts at the lock. */
const LOCK_RETRY_MS = 20;
/** Milliseconds for which a run that could not be started is passed over. */
const FAILURE_PAUSE_MS = 60_000;

export class RunScheduler {
  private readonly loop: RunSchedulerOptions['loop'];
  private readonly store: RunSchedulerOptions['store'];
  private readonly concurrencyPerUser: number | undefined;
  private readonly owner = randomUUID();
  private readonly turns = new KeyedQueue();
  /** The user whose run started last. */
  private lastUser: string | undefined;
  /** Ids of runs that are being started. */
  private readonly starting = new Set<string>();
  /** When runs that could not be started may be tried again, in milliseconds since the epoch. */
  private readonly failed = new Map<string, number>();

  constructor({ loop, store, concurrencyPerUser }: RunSchedulerOptions) {
    this.loop = loop;
    this.store = store;
    this.concurrencyPerUser = concurrencyPerUser;
  }

  /** @throws what starting the chosen run, or the store, throws */
  async startNext(): Promise<NextRun> {
    for (;;) {
      const next = await this.turns.run('', () => this.choose());
      if (typeof next === 'string' || 'done' in next) return next;
      const started = await this.start(next);
      // Another process was faster.
      if (started !== undefined) return started;
    }
  }

  /** @returns a run to be started, or one that was started while no other was chosen, as limits demand */
  private async choose(): Promise<QueuedRunHead | NextRun> {
    const isLimited = this.concurrencyPerUser !== undefined;
    const first = await this.store.nextQueued(this.turn());
    if (first === undefined) return 'empty';
    if (!isLimited && first.concurrencyKey === undefined) return this.chosen(first);
    const { queueLock } = this.store;
    if (queueLock === undefined) return this.startWithinLimits();
    const lock = await this.acquire(queueLock);
    try {
      return await this.startWithinLimits(lock);
    } finally {
      // It expires by itself. A run that was started must not be lost sight of.
      await lock.release().catch(() => undefined);
    }
  }

  private async startWithinLimits(lock?: HeldQueueLock): Promise<NextRun> {
    for (;;) {
      const next = await this.store.nextQueued({ ...this.turn(), ...(await this.limits()) });
      if (next === undefined) return 'limited';
      if (lock !== undefined && !(await lock.choose(next))) return 'limited';
      const started = await this.start(this.chosen(next));
      if (started !== undefined) return started;
    }
  }

  private async acquire(queueLock: QueueLock): Promise<HeldQueueLock> {
    for (;;) {
      const lock = await queueLock.acquire(this.owner);
      if (lock !== undefined) return lock;
      await sleep(LOCK_RETRY_MS);
    }
  }

  private chosen(run: QueuedRunHead): QueuedRunHead {
    this.lastUser = run.userId;
    this.starting.add(run.executionId);
    return run;
  }

  private async start({ executionId, fence }: QueuedRunHead): Promise<StartedRun | undefined> {
    try {
      return await this.loop.claims.startQueued(executionId, fence);
    } catch (error) {
      if (!isStoreOutage(error)) this.failed.set(executionId, Date.now() + FAILURE_PAUSE_MS);
      throw error;
    } finally {
      this.starting.delete(executionId);
    }
  }

  private turn(): QueueTurn {
    const now = Date.now();
    for (const [executionId, until] of this.failed) if (until <= now) this.failed.delete(executionId);
    const except = [...this.starting, ...this.failed.keys()];
    return omitUndefined({ now, except, fullUsers: [], keys: [], after: this.lastUser });
  }

  private async limits(): Promise<Pick<QueueTurn, 'fullUsers' | 'keys'>> {
    const working = await this.store.working();
    const byUser = Map.groupBy(working, ({ userId }) => userId);
    const { concurrencyPerUser = Infinity } = this;
    const fullUsers = [...byUser].filter(([, runs]) => runs.length >= concurrencyPerUser).map(([userId]) => userId);
    const keys = [...byUser].flatMap(([userId, runs]) =>
      [...Map.groupBy(runs, ({ concurrencyKey }) => concurrencyKey)].flatMap(([key, { length }]) =>
        key === undefined ? [] : [{ userId, key, working: length }],
      ),
    );
    return { fullUsers, keys };
  }
}
