/** Builds the rows of the list of runs. A row whose run and calls did not change stays the same object. */
import type { RunDetailView, ToolCallView } from '../../../business/ai/domain/types/RunViews';
import type { ListedRun } from '../DashboardData';
import { NO_USAGE } from '../reducers/usageView';

/** @returns a function that remembers the rows of its last call */
export function createRunList(): (
  runs: readonly RunDetailView[],
  awaitingApproval: readonly ToolCallView[],
) => readonly ListedRun[] {
  const rows = new WeakMap<RunDetailView, ListedRun>();
  return (runs, calls) => {
    const callIds = new Map<string, string[]>();
    for (const { executionId, callId } of calls)
      callIds.set(executionId, [...(callIds.get(executionId) ?? []), callId]);
    return runs.map((run) => {
      const awaitingApproval = callIds.get(run._id) ?? [];
      const row = rows.get(run);
      if (row !== undefined && row.awaitingApproval.join() === awaitingApproval.join()) return row;
      const { input: _input, transcript: _transcript, ...listed } = run;
      const next = { ...listed, usage: { ...NO_USAGE, ...run.usage }, awaitingApproval };
      rows.set(run, next);
      return next;
    });
  };
}
