/**
 * Queues runs for workers and runs scheduled tasks. A job holds nothing but a run's id. It is retried when its
 * process dies, so it may be delivered twice: leases, not the queue, guarantee that a run has a single owner. Nor does
 * it decide on the order: each job starts one run, and `RunScheduler` chooses which.
 */

/**
 * Executes a run: the one whose turn it is, which need not be the one that the job was added for. Rejects to have the
 * job retried; a run that ended with an error counts as done.
 */
export type JobWork = (executionId: string) => Promise<void>;

/** May be called twice for one occurrence, so it must be idempotent. Rejects to be retried. */
export type ScheduledTask = () => Promise<void>;

/** Why a task runs. */
export interface ScheduledOccasion {
  /** The latest time of its schedule, in milliseconds since the epoch. Absent: somebody has triggered it. */
  readonly dueAt?: number;
}

export interface Schedule {
  /** Unique. Scheduling the same name again replaces the earlier schedule. */
  readonly name: string;
  /** Five fields: minute, hour, day of month, month, day of week. */
  readonly cron: string;
  /** An IANA name. Default: UTC. */
  readonly timezone?: string;
}

export interface JobQueue {
  readonly engine: JobEngine;
  readonly limits: Pick<JobLimits, 'concurrency' | 'concurrencyPerUser'>;
  /**
   * Hands the run to a worker. Adding a run that is still waiting is a no-op.
   * @param at milliseconds since the epoch; default: now
   */
  add(executionId: string, at?: number): Promise<void>;
  /** Removes the runs' jobs that wait. @returns how many there were */
  remove(executionIds: readonly string[]): Promise<number>;
  /**
   * Runs the task on its schedule, each time in one of the processes that scheduled it.
   * @throws LLMInvalidRequestError for an invalid schedule
   */
  schedule(schedule: Schedule, task: ScheduledTask): Promise<void>;
  /**
   * Runs a scheduled task as soon as possible, in one of the processes that scheduled it. A task that is running is
   * not run a second time.
   * @returns false for an unknown schedule
   */
  trigger(name: string): Promise<boolean>;
  /** Starts working on jobs and scheduled tasks. */
  start(work: JobWork): Promise<void>;
  /** Takes no more jobs, and resolves when those in progress have ended. */
  stop(): Promise<void>;
}

/** `local`: in this process's memory. `agenda`: shared by the processes of a MongoDB. */
export type JobEngine = 'local' | 'agenda';

export interface JobLimits {
  /** How many runs this process works on at the same time. */
  readonly concurrency: number;
  /** How many runs of one user all processes together work on at the same time. Absent: any number. */
  readonly concurrencyPerUser?: number;
  /** How often a rejected job is retried. */
  readonly retries: number;
  /** Milliseconds before the first retry. The delay doubles with each further one. */
  readonly retryDelay: number;
}

export const DEFAULT_JOB_LIMITS: JobLimits = { concurrency: 8, retries: 5, retryDelay: 1_000 };
