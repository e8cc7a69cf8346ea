/**
 * The timers of a fake clock, without those of earlier tests in the same worker: a process that such a test lets die
 * goes on looking at its store, and its next look may be scheduled during the test at hand.
 */
import type { SinonFakeTimers } from 'sinon';

const OF_DEAD_PROCESSES = /this\s*\.(?:tick|lookAgain|readSoon|watch|scan|search)\(\)/;

/** Their functions. */
export function pendingTimers(clock: SinonFakeTimers): readonly string[] {
  // The declarations leave the timers out.
  const { timers } = clock as SinonFakeTimers & { readonly timers?: ReadonlyMap<number, { readonly func: unknown }> };
  return [...(timers?.values() ?? [])].map(({ func }) => String(func)).filter((code) => !OF_DEAD_PROCESSES.test(code));
}

export function countTimers(clock: SinonFakeTimers): number {
  return pendingTimers(clock).length;
}
