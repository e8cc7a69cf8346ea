/** A run's deadline, which stands still while only people and other services are waited for. */

export class RunClock {
  private remaining: number;
  private startedAt = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly onTimeout: () => void;

  /** @param timeout milliseconds */
  constructor(timeout: number, onTimeout: () => void) {
    this.remaining = timeout;
    this.onTimeout = onTimeout;
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
