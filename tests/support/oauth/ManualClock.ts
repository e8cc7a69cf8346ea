/** A clock that advances only when code sleeps or a test advances it. */
import type { Clock } from '../../../imports/business/providers/domain/interfaces/Clock';

export class ManualClock implements Clock {
  /** How far this host's wall clock is off, in milliseconds. */
  skew: number;
  /** The number of calls of `sleep`. */
  sleeps = 0;
  /** Awaited by `sleep`: time passes only while nobody works. */
  idle: () => Promise<void> = () => new Promise((resolve) => setImmediate(resolve));
  private elapsedMs = 0;
  private readonly start: number;
  private readonly shared: ManualClock | undefined;

  /** @param shared another host's clock: the same time passes for both */
  constructor(skew = 0, shared?: ManualClock) {
    this.skew = skew;
    this.shared = shared;
    if (shared !== undefined) this.idle = () => shared.idle();
    this.start = shared === undefined ? Date.now() : shared.now() - shared.skew - shared.elapsed();
  }

  now(): number {
    return this.start + this.elapsed() + this.skew;
  }

  elapsed(): number {
    return this.shared?.elapsed() ?? this.elapsedMs;
  }

  advance(milliseconds: number): void {
    if (this.shared === undefined) this.elapsedMs += milliseconds;
    else this.shared.advance(milliseconds);
  }

  async sleep(milliseconds: number): Promise<void> {
    this.sleeps += 1;
    await this.idle();
    this.advance(milliseconds);
  }
}
