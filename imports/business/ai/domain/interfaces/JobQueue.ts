/**
 * Where queued runs wait for a worker, and what is done at its time. A job holds nothing but a run's id. It is
 * tried again when its process dies, so it may come twice: that a run has one owner is the leases' promise, not the
 * queue's.
 */

/** What is done to a run. Rejects when the job is to be tried again; a run that failed is done. */
export type JobWork = (executionId: string) => Promise<void>;

/** Like a job it may come twice, so it names what it begins by ids of its own. Rejects when it is to be tried again. */
export type ScheduledTask = () => Promise<void>;

export interface Schedule {
  /** Unique; the same name again takes the place of what was planned. */
  readonly name: string;
  /** Five fields: minute, hour, day of month, month, day of week. */
  readonly cron: string;
  /** An IANA name. Default: UTC. */
  readonly timezone?: string;
}

export interface JobQueue {
  /**
   * Hands the run to a worker, now or at a time (milliseconds since the epoch). The same run again is the same job
   * as long as it waits.
   */
  add(executionId: string, at?: number): Promise<void>;
  /**
   * Does the task at its times, each time in one of the processes that planned it. @throws LLMInvalidRequestError
   * for a schedule that can't be read
   */
  schedule(schedule: Schedule, task: ScheduledTask): Promise<void>;
  /** From here on jobs are done, and tasks. */
  start(work: JobWork): Promise<void>;
  /** Takes no more, and resolves when what is under way has ended. */
  stop(): Promise<void>;
}

export interface JobLimits {
  /** Runs at the same time, in this process. */
  readonly concurrency: number;
  /** How often a job that rejects is tried again. */
  readonly retries: number;
  /** Milliseconds before the first retry; each further one waits twice as long. */
  readonly retryDelay: number;
}

export const DEFAULT_JOB_LIMITS: JobLimits = { concurrency: 8, retries: 5, retryDelay: 1_000 };
