/** The time, for texts that grow old: one timer for all of a page's readers of the same rhythm. */
import { useSyncExternalStore } from 'react';

interface Clock {
  readonly get: () => number;
  readonly subscribe: (listener: () => void) => () => void;
}

const clocks = new Map<number, Clock>();

/**
 * @param everyMs milliseconds between two ticks
 * @param isTicking false: the time of the first reading stays
 * @returns milliseconds since the epoch
 */
export function useNow(everyMs: number, isTicking = true): number {
  const clock = clocks.get(everyMs) ?? createClock(everyMs);
  return useSyncExternalStore(isTicking ? clock.subscribe : subscribeToNothing, clock.get);
}

function createClock(everyMs: number): Clock {
  const listeners = new Set<() => void>();
  let now = Date.now();
  let timer: ReturnType<typeof setInterval> | undefined;
  const tick = (): void => {
    now = Date.now();
    for (const listener of listeners) listener();
  };
  const clock: Clock = {
    get: () => now,
    subscribe: (listener) => {
      listeners.add(listener);
      if (timer === undefined) {
        timer = setInterval(tick, everyMs);
        now = Date.now();
      }
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
  };
  clocks.set(everyMs, clock);
  return clock;
}

function subscribeToNothing(): () => void {
  return () => undefined;
}
