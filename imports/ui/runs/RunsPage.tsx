/** All runs, live: searched, filtered and sorted by the server, a page at a time. */
import { useMemo } from 'react';
import { EmptyState } from '../components/EmptyState';
import { PageTitle } from '../components/PageTitle';
import { WhenLoaded } from '../components/WhenLoaded';
import { Paging } from '../components/list/Paging';
import { SavedViews } from '../components/list/SavedViews';
import { useLastReady } from '../components/list/useLastReady';
import { useData } from '../hooks/BolideProvider';
import { useRowKeys } from '../keys/useRowKeys';
import type { PageProps } from '../shell/PageProps';
import { changeFilters, placeOf } from '../shell/queryParameters';
import { readRunFilter, readRunOrder } from './runFilter';
import { RunFilters } from './RunFilters';
import { RunTable } from './RunTable';
import { RunTotals } from './RunTotals';
import { linkTo } from '../shell/route';

const PAGE_SIZE = 50;

const VIEWS = [
  { name: 'All', query: '' },
  { name: 'Active', query: 'state=active' },
  { name: 'Waits for someone', query: 'state=waits' },
  { name: 'Failed', query: 'state=failed' },
];

export function RunsPage({ route }: PageProps) {
  const data = useData();
  const { query } = route;
  const filter = useMemo(() => readRunFilter(query), [query]);
  const { sort, order } = readRunOrder(query);
  const { after } = placeOf(route);
  const place = after === undefined ? {} : { after };
  const { shown, isStale } = useLastReady(
    data.useQuery('ai.runs.list', { ...filter, sort, order, limit: PAGE_SIZE, ...place }),
  );
  const summary = useLastReady(data.useQuery('ai.runs.summary', filter));
  const list = useRowKeys<HTMLDivElement>('Runs', 'run');
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <>
      <PageTitle title="Runs">
        <a className="button button-primary" href={linkTo(['playground'])}>
          New run
        </a>
      </PageTitle>
      <SavedViews route={route} standard={VIEWS} />
      <RunFilters route={route} />
      <WhenLoaded loaded={shown} what="runs">
        {({ runs, total, next }) =>
          total === 0 ? (
            <NoRuns isFiltered={isFiltered} />
          ) : (
            <>
              <RunTotals summary={summary.shown} isStale={summary.isStale} />
              <div
                ref={list}
                className={isStale ? 'card run-list-card is-stale' : 'card run-list-card'}
                aria-busy={isStale}
              >
                <RunTable
                  runs={runs}
                  label="Runs"
                  order={{ sort, order }}
                  onSort={(next) => changeFilters(route, { ...next })}
                />
              </div>
              <Paging route={route} limit={PAGE_SIZE} count={runs.length} total={total} next={next} what="runs" />
            </>
          )
        }
      </WhenLoaded>
    </>
  );
}

function NoRuns({ isFiltered }: { readonly isFiltered: boolean }) {
  return isFiltered ? (
    <EmptyState icon="search" title="No runs match these filters">
      <a href={linkTo(['runs'])}>Clear filters</a>
    </EmptyState>
  ) : (
    <EmptyState icon="runs" title="No runs yet">
      Runs appear here as soon as they start. <a href={linkTo(['playground'])}>Start one in the playground</a>
    </EmptyState>
  );
}
