/**
 * Time that only the test moves: timers, `Date` and `performance.now()`. Sockets, files and promises go on as they do.
 *
 * A timer is moved past only when it is there: what is in progress on a socket comes first, by an event or `until`, and
 * then the time. That is what makes the result the same on every machine.
 */
import { useFakeTimers } from 'sinon';
import type { SinonFakeTimers } from 'sinon';
import { until } from './until';

export class VirtualTime {
  private constructor(private readonly clock: SinonFakeTimers) {}

  /** @param now milliseconds since 1970; default: the real time, so that certificates and tokens are valid */
  static start(now = Date.now()): VirtualTime {
    return new VirtualTime(
      useFakeTimers({
        now,
        toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
      }),
    );
  }

  /** Timers that are set. */
  get timers(): number {
    return this.clock.countTimers();
  }

  /** Runs what is due within so many milliseconds, and what follows from it by promises alone. */
  async pass(milliseconds: number): Promise<void> {
    await this.clock.tickAsync(milliseconds);
  }

  /**
   * Moves from timer to timer until something is true. For what waits for timers and promises alone, or for sockets
   * that no timer watches.
   */
  async passUntil(isTrue: () => boolean): Promise<void> {
    await until(async () => {
      if (isTrue()) return true;
      if (this.clock.countTimers() > 0) await this.clock.nextAsync();
      return isTrue();
    });
  }

  stop(): void {
    this.clock.restore();
  }
}
