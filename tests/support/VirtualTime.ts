/**
 * Time that only the test moves: timers, `Date` and `performance.now()`. Sockets, files and promises go on as they do.
 *
 * A timer is moved past only when it is there: what is in progress on a socket comes first, by an event or `until`, and
 * then the time. That is what makes the result the same on every machine.
 */
import { useFakeTimers } from 'sinon';
import type { SinonFakeTimers } from 'sinon';
import { nextTurn } from './nextTurn';
import { until } from './until';

/** That of the system. */
const { setTimeout } = globalThis;

/** Milliseconds that pass at a time, after so many turns of the event loop. */
const STEP = 10;
const QUIET_TURNS = 4;

// All connections of `fetch` share one timer, which the first of them sets and nothing replaces. If it were a virtual
// one, no timeout of a later test in this process would end.
void fetch('http://127.0.0.1:65535').catch(() => undefined);

export class VirtualTime {
  private static current: VirtualTime | undefined;

  private constructor(private readonly clock: SinonFakeTimers) {}

  /** @param now milliseconds since 1970; default: the real time, so that certificates and tokens are valid */
  static start(now = Date.now()): VirtualTime {
    // That of a test which hangs ends with it.
    this.current?.stop();
    return (this.current = new VirtualTime(
      useFakeTimers({
        now,
        toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
      }),
    ));
  }

  /** Timers that are set. */
  get timers(): number {
    return this.clock.countTimers();
  }

  /** Runs what is due within so many milliseconds, and what follows from it by promises alone. */
  async pass(milliseconds: number): Promise<void> {
    await this.clock.tickAsync(milliseconds);
  }

  /** Resolves when so many milliseconds have passed: for what is done `during` them. */
  after(milliseconds: number): Promise<void> {
    return new Promise((resolve) => this.clock.setTimeout(() => resolve(), milliseconds));
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
   * Lets time pass while something is done that waits for timers and sockets in turn, such as a client that tries
   * again. A second takes some hundred turns of the event loop, and nothing passes while a file is read or written, a
   * connection made, or a worker thread awaited.
   * @param most milliseconds that may pass: less than any limit that must not end what is in progress
   */
  async during<T>(most: number, act: () => Promise<T>): Promise<T> {
    const settled = new AbortController();
    const work = act();
    work.then(
      () => settled.abort(),
      () => settled.abort(),
    );
    for (let passed = 0; !settled.signal.aborted && passed < most;) {
      for (let turn = 0; turn < QUIET_TURNS; turn++) await nextTurn();
      if (isWorking()) await new Promise((resolve) => setTimeout(resolve, 1));
      else {
        this.clock.tick(STEP);
        passed += STEP;
      }
    }
    return work;
  }

  stop(): void {
    VirtualTime.current = undefined;
    this.clock.restore();
  }
}

/** Whether something goes on that takes longer than turns. A worker thread that is not awaited has no port here. */
function isWorking(): boolean {
  return process.getActiveResourcesInfo().some((name) => /Req|Connect|MessagePort/.test(name));
}
