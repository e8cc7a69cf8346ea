/** Runs as rows under the names of their columns; on phones each row names its numbers itself. */
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
        <span>Took</span>
        <span>Started</span>
      </div>
      <ul className="run-list" aria-label={label}>
        {runs.map((run) => (
          <RunRow key={run._id} run={run} />
        ))}
      </ul>
    </>
  );
}
