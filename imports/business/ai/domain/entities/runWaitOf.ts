/** What a run waits for as a whole, whatever its calls wait for. */
import type { RunView, RunWait } from '../types/RunViews';

export function runWaitOf({ parked, awaitedTools }: Pick<RunView, 'parked' | 'awaitedTools'>): RunWait | undefined {
  if (parked !== undefined) return 'parked';
  return awaitedTools === undefined ? undefined : 'tools';
}
