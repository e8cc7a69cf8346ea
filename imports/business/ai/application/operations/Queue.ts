/** The queue of runs and the schedules: users see their own queued runs, admins control both. */
import { LLMInvalidRequestError } from '../../domain/errors/LLMErrors';
import type { JobControl } from '../../domain/interfaces/JobControl';
import type { Logger } from '../../domain/interfaces/Logger';
import type { QueuedRunReader } from '../../domain/interfaces/QueuedRunReader';
import type { Actor } from '../../domain/types/Actor';
import type { QueueStatus, QueueView, ScheduleView } from '../../domain/types/QueueViews';
import { canAccess, UnknownRunError } from './runAccess';

export interface QueuePorts {
  readonly jobs: JobControl;
  readonly runs: QueuedRunReader;
  /** The user id of the run's owner, or undefined for an unknown run. */
  readonly ownerOf: (executionId: string) => Promise<string | undefined>;
  /** @throws ConflictError for a run that does not wait */
  readonly runNow: (executionId: string) => Promise<void>;
  /** Called after every change. */
  readonly onChange?: () => void;
  /** Receives every change, at the level info. */
  readonly logger: Logger;
}

export class Queue {
  private readonly ports: QueuePorts;

  constructor(ports: QueuePorts) {
    this.ports = ports;
  }

  /** Users get their own runs, and not who has paused the queue. */
  async list(actor: Actor, limit: number): Promise<QueueView> {
    const { jobs, runs } = this.ports;
    const isAdmin = actor.isAdmin === true;
    const [status, waiting] = await Promise.all([
      jobs.status(),
      runs.waiting(limit, isAdmin ? undefined : actor.userId),
    ]);
    const { paused } = status;
    return {
      ...status,
      ...(paused === undefined || isAdmin ? {} : { paused: { at: paused.at } }),
      ...waiting,
    };
  }

  async pause({ userId }: Actor): Promise<QueueStatus> {
    const { jobs } = this.ports;
    await jobs.pause(userId);
    this.changed('The job queue was paused.', userId);
    return jobs.status();
  }

  async resume({ userId }: Actor): Promise<QueueStatus> {
    const { jobs } = this.ports;
    await jobs.resume();
    this.changed('The job queue was resumed.', userId);
    return jobs.status();
  }

  /** @throws UnknownRunError; ConflictError for a run that does not wait */
  async runNow(executionId: string, actor: Actor): Promise<{ readonly executionId: string }> {
    const { ownerOf, runNow, onChange } = this.ports;
    if (!canAccess(actor, await ownerOf(executionId))) throw new UnknownRunError();
    await runNow(executionId);
    onChange?.();
    return { executionId };
  }

  schedules(): Promise<readonly ScheduleView[]> {
    return this.ports.jobs.schedules();
  }

  /** @throws LLMInvalidRequestError for an unknown schedule, as the other two do */
  pauseSchedule(name: string, actor: Actor): Promise<ScheduleView> {
    return this.changeSchedule(name, actor, 'paused', (jobs) => jobs.pauseSchedule(name, actor.userId));
  }

  resumeSchedule(name: string, actor: Actor): Promise<ScheduleView> {
    return this.changeSchedule(name, actor, 'resumed', (jobs) => jobs.resumeSchedule(name));
  }

  runScheduleNow(name: string, actor: Actor): Promise<ScheduleView> {
    return this.changeSchedule(name, actor, 'run out of turn', (jobs) => jobs.triggerSchedule(name));
  }

  /** @param change resolves with false for an unknown schedule */
  private async changeSchedule(
    name: string,
    { userId }: Actor,
    done: string,
    change: (jobs: JobControl) => Promise<boolean>,
  ): Promise<ScheduleView> {
    const { jobs } = this.ports;
    const view = (await change(jobs)) ? (await jobs.schedules()).find((schedule) => schedule.name === name) : undefined;
    if (view === undefined) throw new LLMInvalidRequestError(`There is no schedule "${name}".`, { path: 'name' });
    this.changed(`The schedule "${name}" was ${done}.`, userId);
    return view;
  }

  private changed(message: string, by: string): void {
    this.ports.onChange?.();
    this.ports.logger.info(message, { by });
  }
}
