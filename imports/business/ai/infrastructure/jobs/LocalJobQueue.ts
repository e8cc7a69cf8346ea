/**
 * The queue of a single process, in its memory: at the next start, the runs that still wait are added again from
 * the store. Where it is given a place to write down when its schedules come next, those that came while nobody was
 * there are made up for, once.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Cron } from 'croner';
import pLimit from 'p-limit';
import { DEFAULT_JOB_LIMITS } from '../../domain/interfaces/JobQueue';
import type { JobLimits, JobQueue, JobWork, Schedule, ScheduledTask } from '../../domain/interfaces/JobQueue';
import type { Logger } from '../../domain/interfaces/Logger';
import { checkSchedule, CRON_OPTIONS } from './checkSchedule';
import type { ScheduleTimes } from './ScheduleTimes';

export interface LocalJobQueueOptions extends Partial<JobLimits> {
  /** Absent: times that come while no process is there are not made up for. */
  readonly times?: ScheduleTimes;
  /** Default: the console. */
  readonly logger?: Logger;
}

interface Plan {
  readonly schedule: Schedule;
  readonly task: ScheduledTask;
  timer?: Cron;
}

interface Wait {
  /** Milliseconds since the epoch; 0: as soon as there is a slot. */
  readonly at: number;
  timer?: ReturnType<typeof setTimeout>;
}

/** Milliseconds after which the clock is asked again: it may be put forward meanwhile. */
const LONGEST_WAIT = 30_000;

export class LocalJobQueue implements JobQueue {
  private readonly limits: JobLimits;
  private readonly logger: Logger;
  private readonly times: ScheduleTimes | undefined;
  private readonly slots: pLimit.Limit;
  /** Runs that wait: for their time, or for `start`. */
  private readonly waiting = new Map<string, Wait>();
  private readonly plans = new Map<string, Plan>();
  private readonly underWay = new Set<Promise<void>>();
  private work: JobWork | undefined;
  private stopped = new AbortController();

  constructor({ logger = console, times, ...limits }: LocalJobQueueOptions = {}) {
    this.limits = { ...DEFAULT_JOB_LIMITS, ...limits };
    this.logger = logger;
    this.times = times;
    this.slots = pLimit(this.limits.concurrency);
  }

  add(executionId: string, at = 0): Promise<void> {
    if (!this.waiting.has(executionId)) this.wait(executionId, { at });
    return Promise.resolve();
  }

  async schedule(schedule: Schedule, task: ScheduledTask): Promise<void> {
    await Promise.resolve();
    checkSchedule(schedule);
    this.plans.get(schedule.name)?.timer?.stop();
    const plan: Plan = { schedule, task };
    this.plans.set(schedule.name, plan);
    if (this.work !== undefined) this.run(plan);
  }

  start(work: JobWork): Promise<void> {
    this.work = work;
    this.stopped = new AbortController();
    for (const plan of this.plans.values()) this.run(plan);
    for (const [executionId, wait] of [...this.waiting]) this.wait(executionId, wait);
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.work = undefined;
    this.stopped.abort();
    for (const { timer } of this.plans.values()) timer?.stop();
    for (const { timer } of this.waiting.values()) clearTimeout(timer);
    await Promise.all(this.underWay);
  }

  private wait(executionId: string, wait: Wait): void {
    this.waiting.set(executionId, wait);
    clearTimeout(wait.timer);
    if (this.work === undefined) return;
    const left = wait.at - Date.now();
    // A timer may come a moment before its time, by the clock.
    if (left > 0) wait.timer = setTimeout(() => this.wait(executionId, wait), Math.min(left, LONGEST_WAIT));
    else this.take(executionId);
  }

  private take(executionId: string): void {
    this.follow(() => {
      this.waiting.delete(executionId);
      return this.attempt(`the run ${executionId}`, () => this.work?.(executionId));
    });
  }

  private run(plan: Plan): void {
    const { cron, timezone = 'UTC' } = plan.schedule;
    // A task that takes longer than its schedule's step is not done twice at the same time.
    const timer: Cron = new Cron(cron, { ...CRON_OPTIONS, timezone, protect: true }, () =>
      this.track(this.perform(plan, timer)),
    );
    plan.timer = timer;
    const { times } = this;
    if (times !== undefined) void this.track(this.makeUp(times, plan, timer));
  }

  /** Does a task whose time came while nobody was there, once, however often it came. */
  private async makeUp(times: ScheduleTimes, plan: Plan, timer: Cron): Promise<void> {
    try {
      const next = await times.next(plan.schedule);
      if (next === undefined) await keepNext(times, plan, timer);
      else if (next <= Date.now() && plan.timer === timer && this.work !== undefined && !timer.isBusy())
        await timer.trigger();
    } catch (error) {
      this.logger.warn(`it is not known when the task ${plan.schedule.name} was to come`, error);
    }
  }

  /** Its next time is written down when it is done, so that it is done again if this process ends before. */
  private async perform(plan: Plan, timer: Cron): Promise<void> {
    const isOver = await this.attempt(`the task ${plan.schedule.name}`, plan.task);
    if (!isOver || this.times === undefined) return;
    try {
      await keepNext(this.times, plan, timer);
    } catch (error) {
      this.logger.warn(`that the task ${plan.schedule.name} is done could not be written down`, error);
    }
  }

  /** What waits for a slot when the queue stops is not begun: it waits in the store. */
  private follow(job: () => Promise<unknown>): void {
    void this.track(this.slots(async () => (this.work === undefined ? undefined : job())));
  }

  /** The same promise; `stop` waits for it. None of these rejects. */
  private track(work: Promise<unknown>): Promise<void> {
    const done = work.then(() => undefined).finally(() => this.underWay.delete(done));
    this.underWay.add(done);
    return done;
  }

  /** @returns false when a queue that stops leaves it to the next start */
  private async attempt(what: string, work: () => Promise<void> | undefined): Promise<boolean> {
    const { signal } = this.stopped;
    for (let retry = 0; ; retry += 1) {
      try {
        await work();
        return true;
      } catch (error) {
        if (retry >= this.limits.retries || signal.aborted) {
          this.logger.error(`${what} was given up after ${retry + 1} attempts`, error);
          return !signal.aborted;
        }
        this.logger.warn(`${what} is tried again`, error);
      }
      if (!(await elapsed(this.limits.retryDelay * 2 ** retry, signal))) return false;
    }
  }
}

async function keepNext(times: ScheduleTimes, { schedule }: Plan, timer: Cron): Promise<void> {
  const next = timer.nextRun();
  if (next !== null) await times.keep(schedule, next.getTime());
}

/** @returns false when the signal came first */
async function elapsed(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  try {
    await pause(milliseconds, undefined, { signal });
    return true;
  } catch {
    return false;
  }
}
