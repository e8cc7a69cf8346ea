/** What a simulated process has in place of the clock, the timers, the randomness and the console of Node. */
import nodeCrypto from 'node:crypto';
import { createRequire } from 'node:module';
import type { Executor, VirtualTime } from './VirtualTime';
import type { SeededRandom } from './SeededRandom';

/** A process's clocks. */
export interface Clock {
  /** Milliseconds since the epoch, as this machine has it. */
  wallTime(): number;
  /** Milliseconds since some moment; never set. */
  monotonic(): number;
}

export interface GlobalsOptions {
  readonly time: VirtualTime;
  readonly executor: Executor;
  readonly clock: Clock;
  readonly random: SeededRandom;
  /** Receives what is written to the console. */
  readonly print: (line: string) => void;
}

/** The names under which the engine's bundle receives them, in this order. */
export const GLOBAL_NAMES = [
  'require',
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'setImmediate',
  'clearImmediate',
  'Date',
  'performance',
  'Math',
  'console',
  'AbortSignal',
] as const;

/** Milliseconds. Requests that arrive before it passes are seen first. */
const IMMEDIATE = 0.05;
/** What timers of Node wait for at least, in milliseconds. */
const SHORTEST_DELAY = 1;

type Callback = (...args: readonly unknown[]) => void;

/** Resolves packages as the engine's own files do. */
const requirePackage = createRequire(__filename);

/** Node's own `Timeout`, as far as the engine uses it. */
class VirtualTimer {
  private readonly options: GlobalsOptions;
  private readonly call: () => void;
  private readonly delay: number;
  private readonly repeats: boolean;
  /** Which arming counts: timers are not removed from the time line. */
  private armed = 0;

  constructor(options: GlobalsOptions, call: () => void, delay: number | undefined, repeats: boolean) {
    this.options = options;
    this.call = call;
    this.delay = Math.max(SHORTEST_DELAY, Math.trunc(delay ?? 0));
    this.repeats = repeats;
    this.arm();
  }

  refresh(): this {
    this.arm();
    return this;
  }

  /** A simulated process ends when it is killed. */
  unref(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  clear(): void {
    this.armed += 1;
  }

  private arm(): void {
    this.armed += 1;
    const { armed } = this;
    const { time, executor } = this.options;
    const fire = (): void => {
      if (armed !== this.armed) return;
      if (this.repeats) this.arm();
      this.call();
    };
    time.after(this.delay, fire, executor, 'timer');
  }
}

/** @returns the values of `GLOBAL_NAMES` */
export function processGlobals(options: GlobalsOptions): readonly unknown[] {
  const { time, executor, clock, random } = options;
  const timer =
    (repeats: boolean) =>
    (callback: Callback, delay?: number, ...args: readonly unknown[]): VirtualTimer =>
      new VirtualTimer(options, () => callback(...args), delay, repeats);
  const clear = (cleared: unknown): void => {
    if (cleared instanceof VirtualTimer) cleared.clear();
  };
  const setImmediate = (callback: Callback, ...args: readonly unknown[]): { isCleared: boolean } => {
    const immediate = { isCleared: false };
    const run = (): void => {
      if (!immediate.isCleared) callback(...args);
    };
    time.after(IMMEDIATE, run, executor);
    return immediate;
  };
  const clearImmediate = (immediate: { isCleared: boolean } | undefined): void => {
    if (immediate !== undefined) immediate.isCleared = true;
  };
  const print = (...values: readonly unknown[]): void => options.print(values.map(String).join(' '));
  const setTimeout = timer(false);
  return [
    requireWith(random, setTimeout),
    setTimeout,
    clear,
    timer(true),
    clear,
    setImmediate,
    clearImmediate,
    dateOf(clock),
    { now: () => clock.monotonic(), timeOrigin: 0 },
    Object.create(Math, {
      ...Object.getOwnPropertyDescriptors(Math),
      random: { value: () => random.next() },
    }),
    { log: print, error: print, warn: print, info: print, debug: print },
    abortSignalOf(setTimeout),
  ];
}

function requireWith(random: SeededRandom, setTimeout: (callback: Callback, delay?: number) => unknown): unknown {
  const crypto = { ...nodeCrypto, randomUUID: () => random.uuid() };
  const sleep = (delay: number, value: unknown): Promise<unknown> =>
    new Promise((resolve) => setTimeout(() => resolve(value), delay));
  return (name: string): unknown => {
    if (name === 'node:crypto') return crypto;
    if (name === 'node:timers/promises') return { setTimeout: sleep };
    return requirePackage(name);
  };
}

function dateOf(clock: Clock): DateConstructor {
  const now = (): number => Math.floor(clock.wallTime());
  return new Proxy(Date, {
    construct: (target, args: readonly unknown[], newTarget): object => {
      // Boundary: whatever the engine passes is what `Date` takes.
      const date: unknown = Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget);
      return date as Date;
    },
    get: (target, name, receiver): unknown => (name === 'now' ? now : Reflect.get(target, name, receiver)),
  });
}

function abortSignalOf(setTimeout: (callback: Callback, delay?: number) => unknown): typeof AbortSignal {
  const timeout = (delay: number): AbortSignal => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(new DOMException('The operation timed out.', 'TimeoutError')), delay);
    return controller.signal;
  };
  return new Proxy(AbortSignal, {
    get: (target, name, receiver): unknown => (name === 'timeout' ? timeout : Reflect.get(target, name, receiver)),
  });
}
