/** A run's deadline, which stands still while only people and other services are waited for. */

export class RunClock {
  private readonly timeout: number;
  private remaining: number;
  private startedAt = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly onTimeout: () => void;

  /**
   * @param timeout milliseconds
   * @param worked of which so many are over
   */
  constructor(timeout: number, worked: number, onTimeout: () => void) {
    this.timeout = timeout;
    this.remaining = Math.max(0, timeout - worked);
    this.onTimeout = onTimeout;
  }

  /** Milliseconds that have been counted. */
  get worked(): number {
    const since = this.timer === undefined ? 0 : Date.now() - this.startedAt;
    return Math.max(0, this.timeout - this.remaining + since);
  }

  resume(): void {
    if (this.timer !== undefined) return;
    this.startedAt = Date.now();
    this.timer = setTimeout(this.onTimeout, this.remaining);
  }

  pause(): void {
    if (this.timer === undefined) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.remaining = Math.max(0, this.remaining - (Date.now() - this.startedAt));
  }
}
