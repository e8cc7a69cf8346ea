/**
 * Counts the timers of a fake clock, without those of earlier tests in the same worker: a process that such a test lets
 * die goes on beating, and its next beat may fall into the test at hand.
 */
import type { SinonFakeTimers } from 'sinon';

const OF_DEAD_PROCESSES = /this\.(?:tick|lookAgain|readSoon)\(\)/;

export function countTimers(clock: SinonFakeTimers): number {
  // The declarations leave the timers out.
  const { timers } = clock as SinonFakeTimers & { readonly timers?: ReadonlyMap<number, { readonly func: unknown }> };
  const others = [...(timers?.values() ?? [])].filter(({ func }) => OF_DEAD_PROCESSES.test(String(func)));
  return clock.countTimers() - others.length;
}
