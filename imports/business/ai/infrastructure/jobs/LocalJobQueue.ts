/**
 * A job queue for a single process, in memory. Queued runs are added again from the store at the next start. With a
 * store for its schedules' next times, the queue also catches up, once, on times that passed while no process ran.
 */
import { consoleLogger } from '../../../../log/consoleLogger';
import { setTimeout as pause } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { LimitFunction } from 'p-limit';
import { DEFAULT_JOB_LIMITS } from '../../domain/interfaces/JobQueue';
import type { JobLimits, JobQueue, JobWork, Schedule, ScheduledTask } from '../../domain/interfaces/JobQueue';
import type { Logger } from '../../domain/interfaces/Logger';
import { checkSchedule } from './checkSchedule';
import { MAX_TIMER_MS, ScheduleTimer } from './ScheduleTimer';
import type { ScheduleTimes } from './ScheduleTimes';

export interface LocalJobQueueOptions extends Partial<JobLimits> {
  /** Stores when schedules are due next. Absent: times that pass while no process runs are skipped. */
  readonly times?: ScheduleTimes;
  /** Default: the console. */
  readonly logger?: Logger;
}

interface Plan {
  readonly schedule: Schedule;
  readonly task: ScheduledTask;
  timer?: ScheduleTimer;
}

interface QueuedRun {
  /** Milliseconds since the epoch; 0 means as soon as there is a slot. */
  readonly at: number;
  timer?: ReturnType<typeof setTimeout>;
}

export class LocalJobQueue implements JobQueue {
  readonly engine = 'local';
  readonly limits: JobLimits;
  private readonly logger: Logger;
  private readonly times: ScheduleTimes | undefined;
  private readonly slots: LimitFunction;
  /** Runs that wait for their time or for `start`. */
  private readonly waiting = new Map<string, QueuedRun>();
  private readonly plans = new Map<string, Plan>();
  private readonly pendingWork = new Set<Promise<void>>();
  private work: JobWork | undefined;
  private stopController = new AbortController();

  constructor({ logger = consoleLogger, times, ...limits }: LocalJobQueueOptions = {}) {
    this.limits = { ...DEFAULT_JOB_LIMITS, ...limits };
    this.logger = logger;
    this.times = times;
    this.slots = pLimit(this.limits.concurrency);
  }

  add(executionId: string, at = 0): Promise<void> {
    if (!this.waiting.has(executionId)) this.wait(executionId, { at });
    return Promise.resolve();
  }

  remove(executionIds: readonly string[]): Promise<number> {
    const removed = executionIds.filter((executionId) => {
      clearTimeout(this.waiting.get(executionId)?.timer);
      return this.waiting.delete(executionId);
    });
    return Promise.resolve(removed.length);
  }

  async schedule(schedule: Schedule, task: ScheduledTask): Promise<void> {
    await Promise.resolve();
    checkSchedule(schedule);
    this.plans.get(schedule.name)?.timer?.stop();
    const plan: Plan = { schedule, task };
    this.plans.set(schedule.name, plan);
    if (this.work !== undefined) this.startPlan(plan);
  }

  trigger(name: string): Promise<boolean> {
    const plan = this.plans.get(name);
    const { timer } = plan ?? {};
    if (timer !== undefined && this.work !== undefined && !timer.isBusy) void this.track(timer.trigger());
    return Promise.resolve(plan !== undefined);
  }

  start(work: JobWork): Promise<void> {
    this.work = work;
    this.stopController = new AbortController();
    for (const plan of this.plans.values()) this.startPlan(plan);
    for (const [executionId, wait] of [...this.waiting]) this.wait(executionId, wait);
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.work = undefined;
    this.stopController.abort();
    for (const { timer } of this.plans.values()) timer?.stop();
    for (const { timer } of this.waiting.values()) clearTimeout(timer);
    await Promise.all(this.pendingWork);
  }

  private wait(executionId: string, wait: QueuedRun): void {
    this.waiting.set(executionId, wait);
    clearTimeout(wait.timer);
    if (this.work === undefined) return;
    const remaining = wait.at - Date.now();
    // A timer may fire slightly early by the clock.
    if (remaining > 0) wait.timer = setTimeout(() => this.wait(executionId, wait), Math.min(remaining, MAX_TIMER_MS));
    else this.startRun(executionId);
  }

  private startRun(executionId: string): void {
    this.runInSlot(() => {
      this.waiting.delete(executionId);
      return this.attempt(`The run ${executionId}`, () => this.work?.(executionId));
    });
  }

  private startPlan(plan: Plan): void {
    plan.timer?.stop();
    const timer: ScheduleTimer = new ScheduleTimer(plan.schedule, () => this.track(this.perform(plan, timer)));
    plan.timer = timer;
    const { times } = this;
    if (times !== undefined) void this.track(this.catchUp(times, plan, timer));
  }

  /** Runs a task once if it became due, any number of times, while no process ran. */
  private async catchUp(times: ScheduleTimes, plan: Plan, timer: ScheduleTimer): Promise<void> {
    try {
      const next = await times.next(plan.schedule);
      if (next === undefined) await saveNextTime(times, plan, timer);
      else if (next <= Date.now() && plan.timer === timer && this.work !== undefined && !timer.isBusy)
        await timer.trigger();
    } catch (error) {
      this.logger.warn(`Could not read when the task ${plan.schedule.name} was due.`, error);
    }
  }

  /** Saves the next time only after the task, so that the task runs again if this process ends before. */
  private async perform(plan: Plan, timer: ScheduleTimer): Promise<void> {
    const isOver = await this.attempt(`The task ${plan.schedule.name}`, plan.task);
    if (!isOver || this.times === undefined) return;
    try {
      await saveNextTime(this.times, plan, timer);
    } catch (error) {
      this.logger.warn(`Could not save when the task ${plan.schedule.name} is due next.`, error);
    }
  }

  /** Jobs that still wait for a slot when the queue stops are not started; they remain in the store. */
  private runInSlot(job: () => Promise<unknown>): void {
    void this.track(this.slots(async () => (this.work === undefined ? undefined : job())));
  }

  /** `stop` waits for the returned promise, which never rejects. */
  private track(work: Promise<unknown>): Promise<void> {
    const done = work.then(() => undefined).finally(() => this.pendingWork.delete(done));
    this.pendingWork.add(done);
    return done;
  }

  /** @returns false if the queue stops and leaves the work to the next start */
  private async attempt(label: string, work: () => Promise<void> | undefined): Promise<boolean> {
    const { signal } = this.stopController;
    for (let retry = 0; ; retry += 1) {
      try {
        await work();
        return true;
      } catch (error) {
        if (retry >= this.limits.retries || signal.aborted) {
          this.logger.error(`${label} failed after ${retry + 1} attempts.`, error);
          return !signal.aborted;
        }
        this.logger.warn(`${label} failed and will be retried.`, error);
      }
      if (!(await delay(this.limits.retryDelay * 2 ** retry, signal))) return false;
    }
  }
}

async function saveNextTime(times: ScheduleTimes, { schedule }: Plan, timer: ScheduleTimer): Promise<void> {
  const { next } = timer;
  if (next !== undefined) await times.save(schedule, next);
}

/** @returns false if the signal aborts first */
async function delay(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  try {
    await pause(milliseconds, undefined, { signal });
    return true;
  } catch {
    return false;
  }
}
