/** Puts a job queue under people's control: it can be paused, and tasks are recorded, paused and triggered. */
import { consoleLogger } from '../../../../log/consoleLogger';
import { isStoreOutage } from '../../domain/errors/LLMErrors';
import { safeMessage } from '../../domain/errors/safeText';
import type { JobControl } from '../../domain/interfaces/JobControl';
import type { JobQueue, JobWork, Schedule, ScheduledOccasion } from '../../domain/interfaces/JobQueue';
import type { JobStateStore, StoredSchedule } from '../../domain/interfaces/JobStateStore';
import type { Logger } from '../../domain/interfaces/Logger';
import { omitUndefined } from '../../domain/util/omitUndefined';
import type { QueueStatus, ScheduleView } from '../../domain/types/QueueViews';
import { lastTimeOf, nextTimeOf } from './cronTimes';

export interface ManagedJobQueueOptions {
  /** Milliseconds between two looks at the pause of another process, while jobs wait for its end. Default: 1,000. */
  readonly pollEvery?: number;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Default: the console. */
  readonly logger?: Logger;
}

const DEFAULT_POLL_MS = 1_000;
const MAX_ERROR_LENGTH = 1_000;

export class ManagedJobQueue implements JobQueue, JobControl {
  private readonly queue: JobQueue;
  private readonly states: JobStateStore;
  private readonly pollEvery: number;
  private readonly now: () => number;
  private readonly logger: Logger;
  private readonly registered = new Set<string>();
  private running = 0;
  private isStopping = false;
  /** What all jobs that a pause holds back wait for. */
  private resumed: Promise<boolean> | undefined;
  private wake = (): void => undefined;

  constructor(queue: JobQueue, states: JobStateStore, options: ManagedJobQueueOptions = {}) {
    this.queue = queue;
    this.states = states;
    this.pollEvery = options.pollEvery ?? DEFAULT_POLL_MS;
    this.now = options.now ?? Date.now;
    this.logger = options.logger ?? consoleLogger;
  }

  get engine(): JobQueue['engine'] {
    return this.queue.engine;
  }

  get limits(): JobQueue['limits'] {
    return this.queue.limits;
  }

  add(executionId: string, at?: number): Promise<void> {
    return this.queue.add(executionId, at);
  }

  remove(executionIds: readonly string[]): Promise<number> {
    return this.queue.remove(executionIds);
  }

  async schedule(schedule: Schedule, task: (occasion: ScheduledOccasion) => Promise<void>): Promise<void> {
    const { name, cron, timezone = 'UTC' } = schedule;
    await this.queue.schedule(schedule, () => this.perform(schedule, task));
    this.registered.add(name);
    await this.states.register({ name, cron, timezone }, this.now());
  }

  trigger(name: string): Promise<boolean> {
    return this.queue.trigger(name);
  }

  start(work: JobWork): Promise<void> {
    this.isStopping = false;
    return this.queue.start(async (executionId) => {
      // A run that is not started now stays queued in its store, where the next start finds it.
      if (!(await this.untilResumed())) return;
      this.running += 1;
      try {
        await work(executionId);
      } finally {
        this.running -= 1;
      }
    });
  }

  stop(): Promise<void> {
    this.isStopping = true;
    this.wake();
    return this.queue.stop();
  }

  async status(): Promise<QueueStatus> {
    const paused = await this.states.pausedSince();
    const { engine, running } = this;
    const { concurrency } = this.limits;
    return omitUndefined({ engine, running, concurrency, paused });
  }

  pause(userId: string): Promise<void> {
    return this.states.setPaused({ at: this.now(), by: userId });
  }

  async resume(): Promise<void> {
    await this.states.setPaused(undefined);
    this.wake();
  }

  async schedules(): Promise<readonly ScheduleView[]> {
    return (await this.states.schedules()).map((stored) => this.viewOf(stored));
  }

  pauseSchedule(name: string, userId: string): Promise<boolean> {
    return this.states.setSchedulePaused(name, { at: this.now(), by: userId });
  }

  resumeSchedule(name: string): Promise<boolean> {
    return this.states.setSchedulePaused(name, undefined);
  }

  async triggerSchedule(name: string): Promise<boolean> {
    // Noted first, so that the task does not find itself paused.
    return (await this.states.setTriggered(name)) && (await this.queue.trigger(name));
  }

  /** @returns false if the queue stops first */
  private untilResumed(): Promise<boolean> {
    this.resumed ??= this.pollPause().finally(() => (this.resumed = undefined));
    return this.resumed;
  }

  private async pollPause(): Promise<boolean> {
    while (!this.isStopping) {
      if (!(await this.isHeld())) return true;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, this.pollEvery);
        this.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    return false;
  }

  /** While the store cannot be reached, nothing could be started either. */
  private async isHeld(): Promise<boolean> {
    try {
      return (await this.states.pausedSince()) !== undefined;
    } catch (error) {
      if (isStoreOutage(error)) return true;
      throw error;
    }
  }

  private async perform(schedule: Schedule, task: (occasion: ScheduledOccasion) => Promise<void>): Promise<void> {
    const { name } = schedule;
    const reason = await this.reasonToRun(name);
    if (reason === undefined) return;
    const startedAt = this.now();
    await this.record(name, { startedAt });
    try {
      await task(reason === 'triggered' ? {} : omitUndefined({ dueAt: lastTimeOf(schedule, startedAt) }));
    } catch (error) {
      await this.record(name, { startedAt, endedAt: this.now(), error: describe(error) });
      throw error;
    }
    await this.record(name, { startedAt, endedAt: this.now() });
  }

  /** A task runs even if its state cannot be read. */
  private async reasonToRun(name: string): Promise<'triggered' | 'due' | undefined> {
    try {
      if (await this.states.takeTrigger(name)) return 'triggered';
      return (await this.states.schedule(name))?.paused === undefined ? 'due' : undefined;
    } catch (error) {
      this.logger.warn(`Could not read whether the task ${name} is paused.`, error);
      return 'due';
    }
  }

  private async record(name: string, run: Parameters<JobStateStore['recordRun']>[1]): Promise<void> {
    try {
      await this.states.recordRun(name, run);
    } catch (error) {
      this.logger.warn(`Could not record how the task ${name} went.`, error);
    }
  }

  private viewOf({ isTriggered: _, ...stored }: StoredSchedule): ScheduleView {
    const nextRunAt = stored.paused === undefined ? nextTimeOf(stored, this.now()) : undefined;
    return omitUndefined({ ...stored, isRegisteredHere: this.registered.has(stored.name), nextRunAt });
  }
}

function describe(error: unknown): string {
  return safeMessage(error instanceof Error ? error.message : String(error))
    .slice(0, MAX_ERROR_LENGTH)
    .toWellFormed();
}
