/**
 * A run's deadline, which stands still while only people and other services are waited for. It counts by a clock
 * that never jumps; what the store keeps of it is a duration.
 */

/** The longest time that `setTimeout` takes, in milliseconds. */
const LONGEST_TIMER = 2 ** 31 - 1;

export class RunDeadline {
  private readonly timeout: number;
  private remaining: number;
  private startedAt = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly onTimeout: () => void;

  /**
   * @param timeout milliseconds
   * @param elapsedMs of which so many are over
   */
  constructor(timeout: number, elapsedMs: number, onTimeout: () => void) {
    this.timeout = timeout;
    this.remaining = Math.max(0, timeout - elapsedMs);
    this.onTimeout = onTimeout;
  }

  /** Milliseconds that have been counted. */
  get worked(): number {
    const since = this.timer === undefined ? 0 : performance.now() - this.startedAt;
    return Math.max(0, Math.round(this.timeout - this.remaining + since));
  }

  resume(): void {
    if (this.timer !== undefined) return;
    this.startedAt = performance.now();
    this.wait(this.remaining);
  }

  pause(): void {
    if (this.timer === undefined) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.remaining = Math.max(0, this.remaining - (performance.now() - this.startedAt));
  }

  private wait(left: number): void {
    const step = Math.min(left, LONGEST_TIMER);
    this.timer = setTimeout(() => (left > step ? this.wait(left - step) : this.onTimeout()), step);
  }
}
