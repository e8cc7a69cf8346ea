/**
 * Time that only the test moves: timers, `Date` and `performance.now()`. Sockets, files and promises go on as they do.
 *
 * A timer is moved past only when it is there: what is in progress on a socket comes first, by an event or `until`, and
 * then the time. That is what makes the result the same on every machine.
 */
import { useFakeTimers } from 'sinon';
import type { SinonFakeTimers } from 'sinon';
import { until } from './until';

/** That of the system, whatever a test does with time. */
const { setImmediate } = globalThis;

/** Turns of the event loop in which a socket of this process would have brought what is on its way. */
const QUIET_TURNS = 4;

// All connections of `fetch` share one timer, which the first of them sets and nothing replaces. If it were a virtual
// one, no timeout of a later test in this process would end.
void fetch('http://127.0.0.1:65535').catch(() => undefined);

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

  /**
   * Lets time pass, timer by timer, while something is done that waits for timers and sockets in turn, such as a
   * client that tries again. Where no file is being read or written and no connection made, some turns of the event
   * loop go by, and then the next timer is due.
   * @param most milliseconds that may pass: less than any limit that must not end what is in progress
   */
  async during<T>(most: number, act: () => Promise<T>): Promise<T> {
    let hasSettled = false;
    let isOver = false;
    const settle = (): void => void (hasSettled = true);
    const end = setTimeout(() => (isOver = true), most);
    const work = act();
    work.then(settle, settle);
    await until(async () => {
      if (!hasSettled && !isOver && (await isQuiet())) await this.clock.nextAsync();
      return hasSettled;
    });
    clearTimeout(end);
    return work;
  }

  stop(): void {
    this.clock.restore();
  }
}

async function isQuiet(): Promise<boolean> {
  for (let turn = 0; turn < QUIET_TURNS; turn++) {
    if (process.getActiveResourcesInfo().some((name) => /Req|Connect/.test(name))) return false;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  return true;
}
