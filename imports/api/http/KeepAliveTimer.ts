/** Tells when nothing was sent for a while; one timer, re-armed only when it fires. */

export class KeepAliveTimer {
  private last: number;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly limit: number;
  private readonly onSilence: () => void;

  /** @param limit milliseconds */
  constructor(limit: number, onSilence: () => void) {
    this.limit = limit;
    this.onSilence = onSilence;
    this.last = performance.now();
    this.arm(limit);
  }

  /** Something was sent. */
  touch(): void {
    this.last = performance.now();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private arm(after: number): void {
    this.timer = setTimeout(() => this.check(), after);
  }

  private check(): void {
    const left = this.last + this.limit - performance.now();
    if (left > 0) {
      this.arm(left);
      return;
    }
    this.touch();
    this.arm(this.limit);
    this.onSilence();
  }
}
