/** What people control of the job queue. It holds for all processes, and survives restarts. */
import type { QueueStatus, ScheduleView } from '../types/QueueViews';

export interface JobControl {
  status(): Promise<QueueStatus>;
  /** Workers finish the runs they have, and start no more. Scheduled tasks are not affected. */
  pause(userId: string): Promise<void>;
  resume(): Promise<void>;
  /** By name. */
  schedules(): Promise<readonly ScheduleView[]>;
  /** Skips a task's times. @returns false for an unknown schedule */
  pauseSchedule(name: string, userId: string): Promise<boolean>;
  /** @returns false for an unknown schedule */
  resumeSchedule(name: string): Promise<boolean>;
  /** Runs a task as soon as possible, even a paused one. @returns false for an unknown schedule */
  triggerSchedule(name: string): Promise<boolean>;
}
