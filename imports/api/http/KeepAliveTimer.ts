/** Fires when nothing was sent for a while. Uses one timer that is re-armed only when it fires. */

export class KeepAliveTimer {
  private lastWriteAt: number;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly intervalMs: number;
  private readonly onIdle: () => void;

  constructor(intervalMs: number, onIdle: () => void) {
    this.intervalMs = intervalMs;
    this.onIdle = onIdle;
    this.lastWriteAt = performance.now();
    this.arm(intervalMs);
  }

  /** To be called after every write. */
  touch(): void {
    this.lastWriteAt = performance.now();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private arm(delayMs: number): void {
    this.timer = setTimeout(() => this.check(), delayMs);
  }

  private check(): void {
    const remainingMs = this.lastWriteAt + this.intervalMs - performance.now();
    if (remainingMs > 0) {
      this.arm(remainingMs);
      return;
    }
    this.touch();
    this.arm(this.intervalMs);
    this.onIdle();
  }
}
