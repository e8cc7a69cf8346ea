/** The current time for texts that depend on it. All components with the same interval share one timer. */
import { useSyncExternalStore } from 'react';

interface Clock {
  readonly get: () => number;
  readonly subscribe: (listener: () => void) => () => void;
}

const clocks = new Map<number, Clock>();

/**
 * @param intervalMs milliseconds between two ticks
 * @param isTicking when false, the component is not rendered again as time passes
 * @returns milliseconds since the epoch
 */
export function useNow(intervalMs: number, isTicking = true): number {
  const clock = clocks.get(intervalMs) ?? createClock(intervalMs);
  return useSyncExternalStore(isTicking ? clock.subscribe : neverSubscribe, clock.get);
}

function createClock(intervalMs: number): Clock {
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
        timer = setInterval(tick, intervalMs);
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
  clocks.set(intervalMs, clock);
  return clock;
}

function neverSubscribe(): () => void {
  return () => undefined;
}
