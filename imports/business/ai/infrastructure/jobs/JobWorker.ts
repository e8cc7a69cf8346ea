/** A worker executes the jobs of one name, up to a limit, and looks for one whenever there may be one. */

export interface JobWorkerOptions<T> {
  readonly limit: number;
  /** Takes a job that is due. @returns undefined if there is none */
  readonly take: () => Promise<T | undefined>;
  readonly execute: (job: T) => Promise<void>;
  /** Leaves a job that was taken to others. */
  readonly release: (job: T) => Promise<void>;
  /** Milliseconds until another look, unless there is a signal. */
  readonly pause: () => Promise<number>;
  /** Milliseconds until another look after a failure. */
  readonly pauseAfterFailure: number;
  readonly report: (message: string, error: unknown) => void;
}

export class JobWorker<T> {
  private readonly options: JobWorkerOptions<T>;
  private readonly executions = new Set<Promise<void>>();
  private look: Promise<void> | undefined;
  /** Whether there was a signal since the last look began. */
  private isSignalled = false;
  private isStopped = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(options: JobWorkerOptions<T>) {
    this.options = options;
  }

  /** Tells the worker that there may be a job. */
  signal(): void {
    this.isSignalled = true;
    if (this.look !== undefined || !this.hasRoom) return;
    clearTimeout(this.timer);
    this.look = this.takeAll().finally(() => {
      this.look = undefined;
      // The signal may be about a job that the look did not see.
      if (this.isSignalled) this.signal();
    });
  }

  /** Takes no more jobs, and resolves when those in progress have ended. */
  async stop(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.timer);
    await this.look;
    await Promise.all(this.executions);
  }

  private get hasRoom(): boolean {
    return !this.isStopped && this.executions.size < this.options.limit;
  }

  private async takeAll(): Promise<void> {
    const { take, release, pause, pauseAfterFailure, report } = this.options;
    let wait = pauseAfterFailure;
    try {
      while (this.hasRoom) {
        this.isSignalled = false;
        const job = await take();
        if (job !== undefined && this.isStopped) await release(job);
        else if (job !== undefined) this.execute(job);
        else {
          wait = await pause();
          break;
        }
      }
    } catch (error) {
      this.isSignalled = false;
      report('The job queue failed.', error);
    }
    if (this.hasRoom) this.timer = setTimeout(() => this.signal(), wait);
  }

  private execute(job: T): void {
    const execution = this.options
      .execute(job)
      .catch((error: unknown) => this.options.report('The job queue failed.', error))
      .finally(() => {
        this.executions.delete(execution);
        this.signal();
      });
    this.executions.add(execution);
  }
}
