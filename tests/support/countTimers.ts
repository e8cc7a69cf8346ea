/**
 * The timers of a fake clock, without those of earlier tests in the same worker: a process that such a test lets die
 * goes on looking at its store, and its next look may be scheduled during the test at hand. What it waits for at a real
 * time lies, by the fake clock, as far ahead as a timer can.
 */
import type { SinonFakeTimers } from 'sinon';

const FARTHEST_MS = 2 ** 31 - 1;

const OF_DEAD_PROCESSES = /this\s*\.(?:tick|lookAgain|readSoon|watch|scan|search)\(\)/;

interface FakeTimer {
  readonly func: unknown;
  readonly delay?: number;
}

/** Their functions. */
export function pendingTimers(clock: SinonFakeTimers): readonly string[] {
  // The declarations leave the timers out.
  const { timers } = clock as SinonFakeTimers & { readonly timers?: ReadonlyMap<number, FakeTimer> };
  return [...(timers?.values() ?? [])]
    .filter(({ delay = 0 }) => delay < FARTHEST_MS)
    .map(({ func }) => String(func))
    .filter((code) => !OF_DEAD_PROCESSES.test(code));
}

export function countTimers(clock: SinonFakeTimers): number {
  return pendingTimers(clock).length;
}
