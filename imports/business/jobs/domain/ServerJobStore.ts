/**
 * Stores jobs until they end, and their keys beyond. A job is free until a process claims it, which then follows it;
 * only that process can change it. `false` means that the job is no longer the process's, and nothing was written.
 */
import type { ServerJob } from './ServerJob';

export interface OwnedJob {
  readonly job: ServerJob;
  readonly owner: string;
}

export interface ServerJobStore {
  /**
   * Adds a free job.
   * @param dueAt milliseconds since the epoch; nobody claims it before
   * @returns false if there is a job with its id
   */
  insert(job: ServerJob, dueAt: number): Promise<boolean>;
  /** Also one that has ended. */
  find(id: string): Promise<Pick<ServerJob, 'id' | 'executionId'> | undefined>;
  /** Records the run of a job that nobody has claimed yet. */
  queued(id: string, executionId: string): Promise<void>;
  /** Removes a job that nobody has claimed. */
  removeFree(id: string): Promise<void>;
  /** Free jobs of these names that are due, the earliest first. */
  due(names: readonly string[], now: number, limit: number): Promise<readonly ServerJob[]>;
  /** Jobs of these names that processes follow. @param except owners whose jobs are left out */
  owned(names: readonly string[], limit: number, except: readonly string[]): Promise<readonly OwnedJob[]>;
  /**
   * Claims the attempt at a job.
   * @param from the owner that is gone; default: the job is free
   */
  claim(job: Pick<ServerJob, 'id' | 'attempt'>, owner: string, from?: string): Promise<boolean>;
  /** Records the run of the attempt. */
  begin(id: string, owner: string, executionId: string): Promise<boolean>;
  /** Whether the process still follows the job. */
  isOwner(id: string, owner: string): Promise<boolean>;
  /** Frees the job until `dueAt`. @param next what has changed; a new attempt has no run yet */
  release(
    id: string,
    owner: string,
    dueAt: number,
    next?: Partial<Pick<ServerJob, 'attempt' | 'handlerFailures'>>,
  ): Promise<boolean>;
  /** Keeps nothing but the id. */
  end(id: string, owner: string): Promise<boolean>;
}
