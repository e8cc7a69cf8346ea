/** All model calls, live: searched, filtered and sorted by the server, a page at a time. */
import { useMemo } from 'react';
import { EmptyState } from '../components/EmptyState';
import { PageTitle } from '../components/PageTitle';
import { WhenLoaded } from '../components/WhenLoaded';
import { Paging } from '../components/list/Paging';
import { SavedViews } from '../components/list/SavedViews';
import { useLastReady } from '../components/list/useLastReady';
import { useData } from '../hooks/BolideProvider';
import { useRowKeys } from '../keys/useRowKeys';
import { changeFilters, placeOf } from '../shell/queryParameters';
import type { Route } from '../shell/route';
import { readRequestFilter, readRequestOrder } from './requestFilter';
import { RequestFilters } from './RequestFilters';
import { RequestTable } from './RequestTable';
import { linkTo } from '../shell/route';

const PAGE_SIZE = 50;

const VIEWS = [
  { name: 'All', query: '' },
  { name: 'Failed', query: 'state=failed' },
  { name: 'Gateway', query: 'source=gateway' },
  { name: 'Slowest', query: 'order=desc&sort=duration' },
  { name: 'Most expensive', query: 'order=desc&sort=cost' },
];

export function RequestsPage({ route }: { readonly route: Route }) {
  const { query } = route;
  const filter = useMemo(() => readRequestFilter(query), [query]);
  const { sort, order } = readRequestOrder(query);
  const { after } = placeOf(route);
  const place = after === undefined ? {} : { after };
  const { shown, isStale } = useLastReady(
    useData().useQuery('ai.requests.list', { ...filter, sort, order, limit: PAGE_SIZE, ...place }),
  );
  const list = useRowKeys<HTMLDivElement>('Requests', 'request');
  return (
    <>
      <PageTitle title="Requests" />
      <SavedViews route={route} standard={VIEWS} />
      <RequestFilters route={route} />
      <WhenLoaded loaded={shown} what="requests">
        {({ requests, total, next }) =>
          requests.length === 0 ? (
            <NoRequests isFiltered={Object.keys(filter).length > 0 || after !== undefined} />
          ) : (
            <>
              <div
                ref={list}
                className={isStale ? 'card run-list-card is-stale' : 'card run-list-card'}
                aria-busy={isStale}
              >
                <RequestTable
                  requests={requests}
                  order={{ sort, order }}
                  onSort={(changed) => changeFilters(route, { ...changed })}
                />
              </div>
              <Paging
                route={route}
                limit={PAGE_SIZE}
                count={requests.length}
                total={total}
                next={next}
                what="requests"
              />
            </>
          )
        }
      </WhenLoaded>
    </>
  );
}

function NoRequests({ isFiltered }: { readonly isFiltered: boolean }) {
  return isFiltered ? (
    <EmptyState icon="search" title="No requests match these filters">
      <a href={linkTo(['requests'])}>Clear filters</a>
    </EmptyState>
  ) : (
    <EmptyState icon="requests" title="No requests yet">
      Each model call of the gateway, of runs and of your code appears here when it has ended, unless{' '}
      <code>REQUEST_LOG</code> is off.
    </EmptyState>
  );
}
