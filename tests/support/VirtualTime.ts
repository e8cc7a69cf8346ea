/**
 * Time that only the test moves: timers, `Date` and `performance.now()`. Sockets, files and promises go on as they do.
 *
 * A timer is moved past only when it is there: what is in progress on a socket comes first, by an event or `until`, and
 * then the time. That is what makes the result the same on every machine.
 */
import { randomFill } from 'node:crypto';
import { useFakeTimers } from 'sinon';
import type { SinonFakeTimers } from 'sinon';
import { nextTurn } from './nextTurn';
import { until } from './until';

/** The system's own functions, which fake timers replace. */
const { setImmediate, setTimeout } = globalThis;

/** Milliseconds that pass at a time, after so many turns of the event loop. */
const STEP = 10;
const QUIET_TURNS = 4;

/** How often the event loop turns between two steps of flowing time, so that files and sockets go on. */
const TURNS_PER_STEP = 20;
/** Milliseconds of a step of flowing time, unless a suite says otherwise: a second is four thousand turns. */
const FLOW_STEP = 5;

// All connections of `fetch` share one timer, which the first of them sets and nothing replaces. If it were a virtual
// one, no timeout of a later test in this process would end.
void fetch('http://127.0.0.1:65535').catch(() => undefined);

export class VirtualTime {
  private static current: VirtualTime | undefined;
  private isStopped = false;

  private constructor(private readonly clock: SinonFakeTimers) {}

  /** @param now milliseconds since 1970; default: the real time, so that certificates and tokens are valid */
  static start(now = Date.now()): VirtualTime {
    // That of a test which hangs ends with it.
    this.current?.stop();
    return (this.current = new VirtualTime(
      useFakeTimers({
        now,
        toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
        // What was set before is cleared as ever.
        shouldClearNativeTimers: true,
      }),
    ));
  }

  /**
   * Time that passes with the turns of the event loop instead of the machine's clock, and stands still while files are
   * read or written, or all threads compute. For what is polled in many places, such as heartbeats: a second takes
   * milliseconds, and a busy machine lets no lease expire.
   * @param step milliseconds for twenty turns. What is exchanged over a socket takes about as many
   */
  static startFlowing(step = FLOW_STEP): VirtualTime {
    const time = VirtualTime.start();
    time.flow(step, 0);
    return time;
  }

  /** Timers that are set, each as its milliseconds and the beginning of its function, which says whose it is. */
  get timers(): readonly string[] {
    const set = this.clock.timerHeap?.timers ?? [];
    return set.map(({ delay, func }) => `${delay} ms: ${String(func).slice(0, 200)}`);
  }

  /** Runs what is due within so many milliseconds, and what follows from it by promises alone. */
  async pass(milliseconds: number): Promise<void> {
    await this.clock.tickAsync(milliseconds);
  }

  /** Resolves when so many milliseconds have passed: for what is done `during` them, or in flowing time. */
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

  /** Lets time pass until a promise settles, as `passUntil` does. @returns its value @throws its error */
  async passUntilSettled<T>(promise: Promise<T>): Promise<T> {
    const settled = observe(promise);
    await this.passUntil(() => settled.isSettled);
    return promise;
  }

  /**
   * Lets so many milliseconds pass, again and again, until a promise settles. For what is polled, such as commands to
   * the owner of a run, beside files and sockets whose timeouts are much longer than a step.
   * @returns its value @throws its error
   */
  async passInSteps<T>(milliseconds: number, promise: Promise<T>): Promise<T> {
    const settled = observe(promise);
    for (let turns = 1; !settled.isSettled; turns++) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (turns % TURNS_PER_STEP === 0 && !areFilesInUse()) await this.pass(milliseconds);
    }
    return promise;
  }

  /** Suspends the process for so long: each timer that is due then fires once. */
  suspend(milliseconds: number): void {
    this.clock.jump(milliseconds);
  }

  private flow(step: number, turns: number): void {
    if (this.isStopped) return;
    if (turns < TURNS_PER_STEP) {
      setImmediate(() => this.flow(step, turns + 1));
    } else if (areFilesInUse()) {
      setTimeout(() => this.flow(step, turns), 1);
    } else {
      this.clock.tick(step);
      // Threads that compute signatures get no turn on a busy machine while this one has thousands.
      randomFill(PROBE, () => this.flow(step, 0));
    }
  }

  stop(): void {
    this.isStopped = true;
    VirtualTime.current = undefined;
    this.clock.restore();
  }
}

/** Filled by the threads that compute what the event loop does not: when it is, they have had a turn. */
const PROBE = new Uint8Array(1);

/** Whether something goes on that takes longer than turns. A worker thread that is not awaited has no port here. */
function isWorking(): boolean {
  return process.getActiveResourcesInfo().some((name) => /Req|Connect|MessagePort/.test(name));
}

/**
 * Wraps the body of a suite: `describe('…', inFlowingTime(() => { … }))`. Its hooks are within that time, too.
 * @param step as in `startFlowing`
 */
export function inFlowingTime(
  suite: (this: Mocha.Suite, time: Pick<VirtualTime, 'pass' | 'after' | 'suspend'>) => void,
  step?: number,
): (this: Mocha.Suite) => void {
  return function (this: Mocha.Suite): void {
    let time: VirtualTime | undefined;
    const current = (): VirtualTime => {
      if (time === undefined) throw new Error('Time is virtual while the tests of the suite run, not before.');
      return time;
    };
    before(() => {
      time = VirtualTime.startFlowing(step);
    });
    suite.call(this, {
      pass: (milliseconds) => current().pass(milliseconds),
      after: (milliseconds) => current().after(milliseconds),
      suspend: (milliseconds) => current().suspend(milliseconds),
    });
    after(() => current().stop());
  };
}

/** Threads do that, at the speed of the machine. */
function areFilesInUse(): boolean {
  return process.getActiveResourcesInfo().some((resource) => resource.startsWith('FSReq'));
}

function observe(promise: Promise<unknown>): { readonly isSettled: boolean } {
  const observed = { isSettled: false };
  const settle = (): void => {
    observed.isSettled = true;
  };
  promise.then(settle, settle);
  return observed;
}
