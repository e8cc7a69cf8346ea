/** The job queue and its schedules as people see them. Times are milliseconds since the epoch. */
import type { JobEngine } from '../interfaces/JobQueue';
import type { Actor } from './Actor';

export interface PausedSince {
  readonly at: number;
  /** The user who paused it. Absent for users who are no admins, and once that user's data is deleted. */
  readonly by?: string;
}

export interface QueueStatus {
  /** Absent: the queue takes jobs. */
  readonly paused?: PausedSince;
  readonly engine: JobEngine;
  /** Runs that workers of this process are busy with, and how many there can be. */
  readonly running: number;
  readonly concurrency: number;
}

/** A run that waits for a worker. */
export interface QueuedRunView {
  /** The execution id. */
  readonly _id: string;
  readonly userId: string;
  readonly title: string;
  readonly providerId: string;
  readonly model?: string;
  readonly source: Actor['source'];
  readonly createdAt: number;
  /** The earliest start. Absent: as soon as a worker is free. */
  readonly dueAt?: number;
}

export interface QueueView extends QueueStatus {
  /** In the order in which they start. */
  readonly runs: readonly QueuedRunView[];
  /** How many wait in all. */
  readonly total: number;
}

/** The latest execution of a scheduled task. */
export interface ScheduleRun {
  readonly startedAt: number;
  /** Absent while it runs, or after the process that ran it has died. */
  readonly endedAt?: number;
  /** Why it failed. */
  readonly error?: string;
}

export interface ScheduleView {
  readonly name: string;
  readonly cron: string;
  readonly timezone: string;
  /** The process that responds can run the task itself. */
  readonly isRegisteredHere: boolean;
  readonly registeredAt: number;
  /** Absent for a paused task. */
  readonly nextRunAt?: number;
  readonly lastRun?: ScheduleRun;
  readonly paused?: PausedSince;
}
