/** Runs as rows with column headings; on phones each value carries its own label instead. */
import type { ListedRun } from '../data/DashboardData';
import { RunRow } from './RunRow';

export function RunTable({ runs, label }: { readonly runs: readonly ListedRun[]; readonly label: string }) {
  return (
    <>
      <div className="run-head" aria-hidden="true">
        <span>State</span>
        <span>Run</span>
        <span>Tokens</span>
        <span>Cost</span>
        <span>Duration</span>
        <span>Created</span>
      </div>
      <ul className="run-list" aria-label={label}>
        {runs.map((run) => (
          <RunRow key={run._id} run={run} />
        ))}
      </ul>
    </>
  );
}
