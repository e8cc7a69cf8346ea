/**
 * A run's deadline. It can be paused, which the run does while it waits only for people and other services. It counts
 * by a monotonic clock, and what is stored of it is a duration, so that clock changes never shift it.
 */

/** The longest delay that `setTimeout` accepts, in milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export class RunDeadline {
  private readonly timeoutMs: number;
  private remainingMs: number;
  private resumedAt = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly onTimeout: () => void;

  /** @param elapsedMs how much of the timeout has already passed */
  constructor(timeoutMs: number, elapsedMs: number, onTimeout: () => void) {
    this.timeoutMs = timeoutMs;
    this.remainingMs = Math.max(0, timeoutMs - elapsedMs);
    this.onTimeout = onTimeout;
  }

  /** The time counted so far, without pauses. */
  get elapsedMs(): number {
    const sinceResumed = this.timer === undefined ? 0 : performance.now() - this.resumedAt;
    return Math.max(0, Math.round(this.timeoutMs - this.remainingMs + sinceResumed));
  }

  resume(): void {
    if (this.timer !== undefined) return;
    this.resumedAt = performance.now();
    this.wait(this.remainingMs);
  }

  pause(): void {
    if (this.timer === undefined) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.remainingMs = Math.max(0, this.remainingMs - (performance.now() - this.resumedAt));
  }

  private wait(delayMs: number): void {
    const step = Math.min(delayMs, MAX_TIMER_MS);
    this.timer = setTimeout(() => (delayMs > step ? this.wait(delayMs - step) : this.onTimeout()), step);
  }
}
