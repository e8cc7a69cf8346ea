/**
 * Queues runs for workers. A run is recorded first, and then a job is added for it. A worker that receives a job starts
 * the run whose turn it is. Runs that lose their job in between are found in the store and queued again.
 */
import { consoleLogger } from '../../../../log/consoleLogger';
import { createHash, randomUUID } from 'node:crypto';
import { UNOWNED } from '../../domain/entities/Run';
import { ConflictError, isStoreOutage, LLMInvalidRequestError } from '../../domain/errors/LLMErrors';
import type { IToolExecutor } from '../../domain/interfaces/IToolExecutor';
import type { RunInstrumentation } from '../../domain/interfaces/Instrumentation';
import type { JobQueue } from '../../domain/interfaces/JobQueue';
import type { Logger } from '../../domain/interfaces/Logger';
import type { RunStore } from '../../domain/interfaces/RunStore';
import { omitUndefined } from '../../domain/util/omitUndefined';
import type { AgenticLoop, ExecuteOptions, StartedRun } from './AgenticLoop';
import { RunScheduler } from './queue/RunScheduler';
import { RunSlots } from './queue/RunSlots';
import type { RunMetadata } from './runs/durable/DurableRuns';
import { runDetached } from './shared/runDetached';
import { neededTools, toStoredPlan } from './runs/planRun';
import { titleOf } from './runs/titleOf';
import { throughOutages } from './shared/throughOutages';

export interface RunQueueOptions {
  readonly loop: Pick<
    AgenticLoop,
    'planner' | 'claims' | 'queueChildren' | 'getExecutionContext' | 'on' | 'off' | 'leasedWork'
  >;
  readonly store: RunStore;
  readonly jobs: JobQueue;
  readonly tools: IToolExecutor;
  /** Shared with the recovery. Default: as many as the job queue has. */
  readonly slots?: RunSlots;
  /** How many runs of one user all processes work on at the same time. Default: as the job queue says. */
  readonly concurrencyPerUser?: number | undefined;
  /** Milliseconds between two sweeps for queued runs without a job; default 600,000. */
  readonly sweepIntervalMs?: number;
  /** Default: the console. */
  readonly logger?: Logger;
  /** Absent: queued runs do not continue the trace of whoever queues them. */
  readonly instrumentation?: Pick<RunInstrumentation, 'ready' | 'currentTrace'>;
}

export interface QueuedRun extends RunMetadata {
  /** The earliest start, in milliseconds since the epoch. Default: as soon as a worker is free. */
  readonly dueAt?: number;
  /** From -100 to 100: those of the user's own queued runs with higher ones start first. Default: 0. */
  readonly priority?: number;
  /** From -100 to 100: runs with higher ones start before those of all users with lower ones. Default: 0. */
  readonly globalPriority?: number;
  /** Groups the user's queued runs: `concurrencyLimit` runs with the same key are at work at a time. */
  readonly concurrencyKey?: string;
  /** Needs a key. Default: 1. */
  readonly concurrencyLimit?: number;
}

const SWEEP_INTERVAL_MS = 600_000;
/** Milliseconds after which the sweep is repeated if jobs could not be added. */
const JOB_RETRY_MS = 5_000;
/** How many queued runs one sweep reads. */
const SWEEP_LIMIT = 10_000;
/** Milliseconds after which limits are looked at again, as runs of other processes may have ended. */
const LIMIT_CHECK_MS = 1_000;
const MAX_PRIORITY = 100;
const MAX_KEY_LENGTH = 200;

export class RunQueue {
  private readonly loop: RunQueueOptions['loop'];
  private readonly store: RunStore;
  private readonly jobs: JobQueue;
  private readonly tools: IToolExecutor;
  private readonly slots: RunSlots;
  private readonly scheduler: RunScheduler;
  private readonly sweepIntervalMs: number;
  private readonly logger: Logger;
  private readonly instrumentation: RunQueueOptions['instrumentation'];
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isStopped = true;
  /** Resolves when the queue is stopped. */
  private stopped: Promise<void> = Promise.resolve();
  private resolveStopped = (): void => undefined;
  /** What jobs wait for whose runs are held back by limits. */
  private change: Promise<void> | undefined;
  private reportChange = (): void => undefined;

  constructor({
    loop,
    store,
    jobs,
    tools,
    concurrencyPerUser = jobs.limits.concurrencyPerUser,
    slots = new RunSlots({ loop, tools, limit: jobs.limits.concurrency }),
    sweepIntervalMs = SWEEP_INTERVAL_MS,
    logger = consoleLogger,
    instrumentation,
  }: RunQueueOptions) {
    this.instrumentation = instrumentation;
    this.loop = loop;
    // The sooner it ends, the sooner the run goes on that has begun already.
    loop.queueChildren((userId, options, queued) => this.add(userId, options, { ...queued, priority: MAX_PRIORITY }));
    this.store = store;
    this.jobs = jobs;
    this.tools = tools;
    this.slots = slots;
    this.scheduler = new RunScheduler({ loop, store, concurrencyPerUser });
    this.sweepIntervalMs = sweepIntervalMs;
    this.logger = logger;
  }

  /**
   * Queues a run. Resolves when it is recorded; from then on it will be executed, and by one process only.
   * @param options as for `AgenticLoop.execute`; `onPending` is ignored
   * @returns the execution id
   * @throws LLMInvalidRequestError for invalid options; ConflictError when the execution id, or the user's request
   *   id, is taken
   */
  async add(userId: string, options: ExecuteOptions, queued: QueuedRun = {}): Promise<string> {
    const { onPending: _onPending, executionId = randomUUID(), recall, ...given } = options;
    assertSchedulable(queued);
    const { options: runOptions, metadata } = await this.loop.planner.completed(userId, given, recall, queued);
    const plan = this.loop.planner.plan(runOptions);
    const storedPlan = toStoredPlan(plan, runOptions.tools);
    const loading = this.instrumentation?.ready();
    if (loading !== undefined) await loading;
    const trace = queued.trace ?? this.instrumentation?.currentTrace();
    const request = omitUndefined({
      requestId: executionId,
      argumentsHash: createHash('sha256').update(executionId).digest('hex'),
      source: 'job' as const,
      providerId: plan.options.model,
      title: queued.parentExecutionId === undefined ? '' : titleOf(plan.options.input),
      ...metadata,
      executionId,
      userId,
      isQueued: true as const,
      createdAt: Date.now(),
      ...neededTools(storedPlan, this.tools),
      trace,
      input: plan.options.input,
      plan: storedPlan,
    });
    try {
      await this.store.create(request, 'queued', '');
    } catch (error) {
      // It may be recorded all the same.
      if (isStoreOutage(error)) this.scheduleSweep(JOB_RETRY_MS);
      throw error;
    }
    await this.enqueueJob(executionId, queued.dueAt);
    this.reportChange();
    if (this.isStopped) await this.announceLeft();
    return executionId;
  }

  /**
   * Starts working on queued runs, including those that earlier processes left behind.
   * @throws what the job queue or the store throws at the start
   */
  async start(): Promise<void> {
    this.stopped = new Promise((resolve) => (this.resolveStopped = resolve));
    this.isStopped = false;
    try {
      // The queue may call from the context of whoever added the job, and before it has started.
      await this.jobs.start(() => runDetached(() => this.work()));
    } catch (error) {
      this.isStopped = true;
      throw error;
    }
    // Other processes learn that this one is lost, and with it the jobs in its memory.
    if (this.isLocalAmongOthers) this.countAsAlive();
    await this.requeueOrphans();
    this.scheduleSweep(this.sweepIntervalMs);
  }

  /** Another process was lost: jobs that it held in memory are taken over. */
  onProcessLost(): void {
    if (this.isLocalAmongOthers) this.scheduleSweep(0);
  }

  /** Whether other processes may take runs from it. */
  get isShared(): boolean {
    return !this.store.isExclusive;
  }

  private get isLocalAmongOthers(): boolean {
    return this.jobs.engine === 'local' && this.isShared;
  }

  private countAsAlive(): void {
    this.loop.leasedWork
      .run('queue', () => this.stopped)
      .catch((error: unknown) =>
        this.logger.warn('If this process is lost, its queued runs start minutes later in another.', error),
      );
  }

  /** Whether it has started and not been stopped. */
  get isRunning(): boolean {
    return !this.isStopped;
  }

  /**
   * Starts a run that waits, in this process: before its time, while all workers are busy, and while the queue is
   * paused.
   * @throws ConflictError if it no longer waits
   */
  async runNow(executionId: string): Promise<void> {
    const started = await runDetached(() => this.loop.claims.startQueued(executionId));
    if (started === undefined)
      throw new ConflictError('The run is no longer queued: it was started or cancelled in the meantime.');
    void runDetached(() => this.untilIdleOrDone(started));
    // A job that is left behind finds that the run has started.
    await this.jobs.remove([executionId]);
  }

  /** Starts no more runs. Those in progress continue in the loop. */
  async stop(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.timer);
    this.resolveStopped();
    await Promise.all([this.jobs.stop(), this.announceLeft()]);
  }

  /** Other processes take over the jobs in the memory of this one, before it ends. */
  private async announceLeft(): Promise<void> {
    if (!this.isLocalAmongOthers) return;
    try {
      await this.store.heartbeat(UNOWNED);
    } catch (error) {
      // They do when it ends.
      if (!isStoreOutage(error))
        this.logger.warn('Queued runs move to other processes only when this one ends.', error);
    }
  }

  /** Adds a job for every queued run: its process may have died before it added one, or held the queue in memory. */
  private async requeueOrphans(): Promise<void> {
    for (const { executionId, dueAt } of await this.store.queued(SWEEP_LIMIT)) await this.jobs.add(executionId, dueAt);
  }

  private scheduleSweep(delayMs: number): void {
    if (this.isStopped) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.requeueOrphans().then(
        () => this.scheduleSweep(this.sweepIntervalMs),
        (error: unknown) => {
          this.logger.error('The sweep for queued runs without a job failed and will be retried.', error);
          this.scheduleSweep(JOB_RETRY_MS);
        },
      );
    }, delayMs);
    this.timer.unref();
  }

  /** Does not throw: the run is recorded, so the next sweep adds the job if the queue cannot be reached now. */
  private async enqueueJob(executionId: string, dueAt: number | undefined): Promise<void> {
    try {
      await this.jobs.add(executionId, dueAt);
    } catch (error) {
      this.logger.warn(`Run "${executionId}" will start later, because the job queue cannot be reached.`, error);
      this.scheduleSweep(JOB_RETRY_MS);
    }
  }

  /** Starts one run. A job stays with its worker while limits hold back all runs that wait. */
  private async work(): Promise<void> {
    while (!this.isStopped) {
      const giveBack = await this.slots.enter(this.stopped);
      // The run stays queued in the store, where the next start finds it.
      if (giveBack === undefined) return;
      const change = this.nextChange();
      try {
        // An outage of the store, however long, is no failed attempt at the job.
        const next = await throughOutages(
          () => this.scheduler.startNext(),
          () => !this.isStopped,
        );
        if (next === 'empty') return;
        if (next !== 'limited') {
          await this.untilIdleOrDone(next, giveBack);
          return;
        }
      } finally {
        giveBack();
      }
      await Promise.race([change, this.stopped]);
    }
  }

  /** Resolves when a run was added, one of this process has ended or waits, or after a while. */
  private nextChange(): Promise<void> {
    this.change ??= new Promise<void>((resolve) => {
      this.reportChange = () => {
        clearTimeout(timer);
        this.change = undefined;
        this.reportChange = () => undefined;
        resolve();
      };
      const timer = setTimeout(() => this.reportChange(), LIMIT_CHECK_MS);
      timer.unref();
    });
    return this.change;
  }

  /** Frees the worker when the run ends, or when it begins to wait for people and other services. */
  private async untilIdleOrDone({ executionId, done }: StartedRun, giveBack?: () => void): Promise<void> {
    const held = this.slots.hold(executionId, done);
    giveBack?.();
    await Promise.race([held, this.stopped]);
    this.reportChange();
  }
}

/** @throws LLMInvalidRequestError */
function assertSchedulable({ priority, globalPriority, concurrencyKey, concurrencyLimit }: QueuedRun): void {
  for (const [path, value] of Object.entries({ priority, globalPriority }))
    if (value !== undefined && !(Number.isInteger(value) && Math.abs(value) <= MAX_PRIORITY))
      throw new LLMInvalidRequestError(`"${path}" must be an integer from -${MAX_PRIORITY} to ${MAX_PRIORITY}.`, {
        path,
      });
  if (concurrencyKey !== undefined && !(concurrencyKey.length >= 1 && concurrencyKey.length <= MAX_KEY_LENGTH))
    throw new LLMInvalidRequestError(`"concurrencyKey" must have 1 to ${MAX_KEY_LENGTH} characters.`, {
      path: 'concurrencyKey',
    });
  if (concurrencyLimit === undefined) return;
  if (concurrencyKey === undefined || !(Number.isSafeInteger(concurrencyLimit) && concurrencyLimit >= 1))
    throw new LLMInvalidRequestError('"concurrencyLimit" must be an integer of at least 1, and needs a key.', {
      path: 'concurrencyLimit',
    });
}
