/**
 * A run's deadline. It can be paused, which the run does while it waits only for people and other services. It counts
 * by a monotonic clock, and what is stored of it is a duration, so that clock changes never shift it.
 */

/** The longest delay that `setTimeout` accepts, in milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export interface DeadlineOwner {
  onTimeout(): void;
}

export class RunDeadline {
  private readonly timeoutMs: number;
  private remainingMs: number;
  private resumedAt = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isSuspended = false;
  /** It would count if it were not suspended. */
  private isDue = false;
  private readonly owner: DeadlineOwner;

  /** @param elapsedMs how much of the timeout has already passed */
  constructor(timeoutMs: number, elapsedMs: number, owner: DeadlineOwner) {
    this.timeoutMs = timeoutMs;
    this.remainingMs = Math.max(0, timeoutMs - elapsedMs);
    this.owner = owner;
  }

  /** The time counted so far, without pauses. */
  get elapsedMs(): number {
    const sinceResumed = this.timer === undefined ? 0 : performance.now() - this.resumedAt;
    return Math.max(0, Math.round(this.timeoutMs - this.remainingMs + sinceResumed));
  }

  resume(): void {
    this.isDue = true;
    if (this.timer !== undefined || this.isSuspended) return;
    this.resumedAt = performance.now();
    this.wait(this.remainingMs);
  }

  pause(): void {
    this.isDue = false;
    this.stop();
  }

  /** Counts nothing, whether resumed or paused, until it is no longer suspended. */
  suspend(isSuspended: boolean): void {
    this.isSuspended = isSuspended;
    if (isSuspended) this.stop();
    else if (this.isDue) this.resume();
  }

  private stop(): void {
    if (this.timer === undefined) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.remainingMs = Math.max(0, this.remainingMs - (performance.now() - this.resumedAt));
  }

  /** A timer has ended, after which `remainingMs` of the timeout are left. */
  continue(remainingMs: number): void {
    if (remainingMs > 0) this.wait(remainingMs);
    else this.owner.onTimeout();
  }

  private wait(delayMs: number): void {
    const step = Math.min(delayMs, MAX_TIMER_MS);
    this.timer = setTimeout(continueDeadline, step, this, delayMs - step);
  }
}

/** One function for all runs, so that a run that waits holds no closure for its timer. */
function continueDeadline(deadline: RunDeadline, remainingMs: number): void {
  deadline.continue(remainingMs);
}
