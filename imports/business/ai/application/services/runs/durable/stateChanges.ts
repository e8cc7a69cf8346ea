/** What a state of a run has that the one which was written last has not. */
import type { ToolCall } from '../../../../domain/entities/Tool';
import { isCalling } from '../../../../domain/run/ActiveRun';
import type { ActiveRun } from '../../../../domain/run/ActiveRun';
import type { CallTable } from '../../../../domain/run/CallTable';

/** Whether the run itself must be written. Numbers of events alone are written with whatever else is. */
export function isRunChanged(written: ActiveRun, state: ActiveRun): boolean {
  return (
    written !== state && (isCalling(written) !== isCalling(state) || FIELDS.some((key) => written[key] !== state[key]))
  );
}

const FIELDS = [
  'status',
  'transcript',
  'turnStart',
  'response',
  'totals',
  'iterations',
  'deliveries',
  'countedFrom',
  'failedTurns',
  'takeovers',
  'compaction',
  'error',
] as const satisfies readonly (keyof ActiveRun)[];

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
