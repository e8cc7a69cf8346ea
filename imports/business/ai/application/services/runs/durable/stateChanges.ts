/** What a state of a run has that the one which was written last has not. */
import type { ToolCall } from '../../../../domain/entities/Tool';
import { isCalling } from '../../../../domain/run/ActiveRun';
import type { ActiveRun } from '../../../../domain/run/ActiveRun';
import type { CallTable } from '../../../../domain/run/CallTable';

/** Whether the run itself must be written. Numbers of events alone are written with whatever else is. */
export function isRunChanged(written: ActiveRun, state: ActiveRun): boolean {
  if (written === state) return false;
  return (
    written.status !== state.status ||
    written.transcript !== state.transcript ||
    written.turnStart !== state.turnStart ||
    written.response !== state.response ||
    written.totals !== state.totals ||
    written.iterations !== state.iterations ||
    written.deliveries !== state.deliveries ||
    written.countedFrom !== state.countedFrom ||
    written.failedTurns !== state.failedTurns ||
    written.takeovers !== state.takeovers ||
    written.compaction !== state.compaction ||
    written.error !== state.error ||
    isCalling(written) !== isCalling(state)
  );
}

/** @param includesProgress whether calls count of which only the progress has changed */
export function changedCalls(written: CallTable, calls: CallTable, includesProgress: boolean): readonly ToolCall[] {
  const changed = calls.changedSince(written);
  if (includesProgress) return changed;
  return changed.filter((call) => {
    const before = written.get(call.id);
    return before === undefined || !isOnlyProgress(before, call);
  });
}

function isOnlyProgress(before: ToolCall, call: ToolCall): boolean {
  if (before.state !== call.state || before.progress === call.progress) return false;
  const { progress: _, ...others } = before;
  const entries = Object.entries(others);
  const now: Readonly<Record<string, unknown>> = { ...call };
  const count = Object.keys(now).length - 1;
  return entries.length === count && entries.every(([key, value]) => now[key] === value);
}
