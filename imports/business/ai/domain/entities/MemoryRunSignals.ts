/** Signals in memory, for runs that are not stored, or stored in memory. */
import { MAX_SIGNALS } from '../interfaces/RunSignalStore';
import type { RunSignal, RunSignalStore } from '../interfaces/RunSignalStore';

interface KeptSignal {
  readonly signal: RunSignal;
  takenBy: string | undefined;
}

export class MemoryRunSignals implements RunSignalStore {
  private readonly runs = new Map<string, Map<string, KeptSignal>>();

  add(signal: RunSignal): ReturnType<RunSignalStore['add']> {
    const { executionId, signalId } = signal;
    const kept = this.runs.get(executionId) ?? new Map<string, KeptSignal>();
    if (kept.has(signalId)) return Promise.resolve('repeated');
    if (kept.size >= MAX_SIGNALS) return Promise.resolve('full');
    kept.set(signalId, { signal, takenBy: undefined });
    this.runs.set(executionId, kept);
    return Promise.resolve('accepted');
  }

  take(executionId: string, name: string, callId: string): Promise<RunSignal | undefined> {
    const kept = [...(this.runs.get(executionId)?.values() ?? [])];
    const found =
      kept.find(({ takenBy }) => takenBy === callId) ??
      kept.find(({ signal, takenBy }) => takenBy === undefined && signal.name === name);
    if (found !== undefined) found.takenBy = callId;
    return Promise.resolve(found?.signal);
  }

  untakenAmong(executionIds: readonly string[]): Promise<readonly string[]> {
    const hasUntaken = (executionId: string): boolean =>
      [...(this.runs.get(executionId)?.values() ?? [])].some(({ takenBy }) => takenBy === undefined);
    return Promise.resolve(executionIds.filter(hasUntaken));
  }

  giveBack(executionId: string, callId: string): Promise<void> {
    for (const kept of this.runs.get(executionId)?.values() ?? [])
      if (kept.takenBy === callId) kept.takenBy = undefined;
    return Promise.resolve();
  }

  remove(executionIds: readonly string[]): Promise<void> {
    for (const executionId of executionIds) this.runs.delete(executionId);
    return Promise.resolve();
  }
}
