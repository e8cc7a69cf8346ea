/**
 * The timers of a fake clock, without those of earlier tests in the same worker: a process that such a test lets die
 * goes on looking at its store and at the clock, and its next look may be scheduled during the test at hand.
 */
import type { SinonFakeTimers } from 'sinon';
import { MAX_TIMER_MS } from '../../imports/business/ai/application/services/shared/time';

const OF_DEAD_PROCESSES = /this\s*\.(?:tick|lookAgain|readSoon|watch|scan|search)\(\)/;

/** OpenAI's Agents SDK exports traces every five seconds from its import on. */
const OF_AGENTS_SDK = /this\.#runExportLoop\(\)/;

/** With the longest delay, it is that of a call that waits for a real time, which no fake clock comes near. */
const OF_DUE_TIMES = /this\s*\.callBack\(\)/;

/** Their functions. */
export function pendingTimers(clock: SinonFakeTimers): readonly string[] {
  return [...(clock.timers?.values() ?? [])]
    .map(({ func, delay = 0 }) => ({ code: String(func), delay }))
    .filter(({ code }) => !OF_DEAD_PROCESSES.test(code) && !OF_AGENTS_SDK.test(code))
    .filter(({ code, delay }) => !(delay >= MAX_TIMER_MS && OF_DUE_TIMES.test(code)))
    .map(({ code }) => code);
}

export function countTimers(clock: SinonFakeTimers): number {
  return pendingTimers(clock).length;
}
