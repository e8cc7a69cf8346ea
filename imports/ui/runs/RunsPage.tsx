/** All runs, newest first, as they are now. */
import { useMemo, useState } from 'react';
import { useData } from '../data/DataContext';
import type { ListedRun } from '../data/DashboardData';
import { count } from '../format/format';
import { EmptyState, WhenLoaded } from '../components/Placeholders';
import { PageTitle } from '../components/PageTitle';
import type { Route } from '../shell/route';
import { filterRuns, readRunFilter } from './filterRuns';
import { RunFilters } from './RunFilters';
import { RunTable } from './RunTable';

/**
 * Rows that are drawn at first, and with each wish for more: what is drawn stays bounded, however many runs there
 * are.
 */
const PORTION = 60;

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
  const found = useMemo(() => filterRuns(runs, filter), [runs, filter]);
  const [shown, setShown] = useState(PORTION);
  if (runs.length === 0) {
    return (
      <EmptyState icon="runs" title="No runs yet">
        Runs appear here as soon as something asks a model. <a href="#/playground">Start one in the playground.</a>
      </EmptyState>
    );
  }
  return (
    <>
      <RunFilters route={route} runs={runs} filter={filter} />
      <p className="visually-hidden" role="status">
        {found.length === 1 ? 'One run' : `${count(found.length)} runs`}
      </p>
      {found.length === 0 ? (
        <EmptyState icon="search" title="No run fits these filters">
          <a href="#/runs">Show all runs</a>
        </EmptyState>
      ) : (
        <div className="card list-card">
          <RunTable runs={found.slice(0, shown)} label="Runs" />
        </div>
      )}
      {found.length > shown && (
        <button type="button" className="button more" onClick={() => setShown(shown + PORTION)}>
          Show more ({count(found.length - shown)} left)
        </button>
      )}
    </>
  );
}
