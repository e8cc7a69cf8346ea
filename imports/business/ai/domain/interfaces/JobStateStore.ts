/** Stores what is paused, and how scheduled tasks went, for all processes. */
import type { PausedSince, ScheduleRun } from '../types/QueueViews';
import type { Schedule } from './JobQueue';

export interface StoredSchedule extends Required<Schedule> {
  /** When a process last scheduled it. Times are milliseconds since the epoch. */
  readonly registeredAt: number;
  readonly paused?: PausedSince;
  readonly lastRun?: ScheduleRun;
  /** Someone wants the task to run even though it is paused. */
  readonly isTriggered: boolean;
}

export interface JobStateStore {
  /** Undefined unless the queue is paused. */
  pausedSince(): Promise<PausedSince | undefined>;
  /** @param paused undefined resumes */
  setPaused(paused: PausedSince | undefined): Promise<void>;
  schedules(): Promise<readonly StoredSchedule[]>;
  schedule(name: string): Promise<StoredSchedule | undefined>;
  register(schedule: Required<Schedule>, registeredAt: number): Promise<void>;
  /** @returns false for an unknown schedule */
  setSchedulePaused(name: string, paused: PausedSince | undefined): Promise<boolean>;
  setTriggered(name: string): Promise<boolean>;
  /** @returns whether it was triggered; true once only */
  takeTrigger(name: string): Promise<boolean>;
  recordRun(name: string, run: ScheduleRun): Promise<void>;
}
