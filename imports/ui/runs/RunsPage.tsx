/** All runs, live, newest first. */
import { useMemo, useState } from 'react';
import { useData } from '../hooks/BolideProvider';
import type { ListedRun } from '../data/DashboardData';
import { formatCount, pluralize } from '../format/format';
import { EmptyState } from '../components/EmptyState';
import { WhenLoaded } from '../components/WhenLoaded';
import { PageTitle } from '../components/PageTitle';
import type { Route } from '../shell/route';
import { filterRuns, readRunFilter } from './filterRuns';
import { RunFilters } from './RunFilters';
import { RunTable } from './RunTable';

/** Rows that are rendered initially, and added with each "Show more", so that rendering stays cheap. */
const PAGE_SIZE = 60;

export function RunsPage({ route }: { readonly route: Route }) {
  const loaded = useData().useRuns();
  return (
    <>
      <PageTitle title="Runs">
        <a className="button button-primary" href="#/playground">
          New run
        </a>
      </PageTitle>
      <WhenLoaded loaded={loaded} what="runs">
        {(runs) => <RunsList runs={runs} route={route} />}
      </WhenLoaded>
    </>
  );
}

function RunsList({ runs, route }: { readonly runs: readonly ListedRun[]; readonly route: Route }) {
  const filter = useMemo(() => readRunFilter(route.query), [route]);
  const matching = useMemo(() => filterRuns(runs, filter), [runs, filter]);
  const [limit, setLimit] = useState(PAGE_SIZE);
  if (runs.length === 0) {
    return (
      <EmptyState icon="runs" title="No runs yet">
        Runs appear here as soon as they start. <a href="#/playground">Start one in the playground</a>
      </EmptyState>
    );
  }
  return (
    <>
      <RunFilters route={route} runs={runs} filter={filter} />
      <p className="visually-hidden" role="status">
        {pluralize(matching.length, 'run')}
      </p>
      {matching.length === 0 ? (
        <EmptyState icon="search" title="No runs match these filters">
          <a href="#/runs">Clear filters</a>
        </EmptyState>
      ) : (
        <div className="card run-list-card">
          <RunTable runs={matching.slice(0, limit)} label="Runs" />
        </div>
      )}
      {matching.length > limit && (
        <button type="button" className="button show-more" onClick={() => setLimit(limit + PAGE_SIZE)}>
          Show more ({formatCount(matching.length - limit)} remaining)
        </button>
      )}
    </>
  );
}
