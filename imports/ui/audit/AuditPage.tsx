/** The audit trail: who did what, when, from where and with what outcome, a page at a time. */
import { useMemo } from 'react';
import { EmptyState } from '../components/EmptyState';
import { PageTitle } from '../components/PageTitle';
import { WhenLoaded } from '../components/WhenLoaded';
import { Paging } from '../components/list/Paging';
import { SavedViews } from '../components/list/SavedViews';
import { useLastReady } from '../components/list/useLastReady';
import { useIsAdmin } from '../components/useIsAdmin';
import { useData } from '../hooks/BolideProvider';
import { placeOf } from '../shell/queryParameters';
import type { Route } from '../shell/route';
import { AuditExport } from './AuditExport';
import { readAuditFilter } from './auditFilter';
import { AuditFilters } from './AuditFilters';
import { AuditRow } from './AuditRow';
import { linkTo } from '../shell/route';

const PAGE_SIZE = 50;

const VIEWS = [
  { name: 'All', query: '' },
  { name: 'Refused', query: 'outcome=refused' },
  { name: 'Decisions', query: 'kind=call' },
  { name: 'API tokens', query: 'kind=token' },
  { name: 'Sign-ins', query: 'kind=session' },
];

export function AuditPage({ route }: { readonly route: Route }) {
  const { query } = route;
  const isAdmin = useIsAdmin();
  const filter = useMemo(() => readAuditFilter(query), [query]);
  const { after } = placeOf(route);
  const place = after === undefined ? {} : { after };
  const { shown, isStale } = useLastReady(
    useData().useQuery('ai.audit.list', { ...filter, limit: PAGE_SIZE, ...place }),
  );
  return (
    <>
      <PageTitle title="Audit">
        <AuditExport filter={filter} />
      </PageTitle>
      <p className="muted audit-intro">
        {isAdmin ? 'What everyone did, and from where.' : 'What you did, and from where.'}
      </p>
      <SavedViews route={route} standard={VIEWS} />
      <AuditFilters route={route} />
      <WhenLoaded loaded={shown} what="the audit trail">
        {({ entries, total, next }) =>
          entries.length === 0 ? (
            <NoEntries isFiltered={Object.keys(filter).length > 0 || after !== undefined} />
          ) : (
            <>
              <ul
                className={isStale ? 'entry-list card is-stale' : 'entry-list card'}
                aria-busy={isStale}
                aria-label="Entries"
              >
                {entries.map((entry) => (
                  <AuditRow key={entry._id} entry={entry} />
                ))}
              </ul>
              <Paging route={route} limit={PAGE_SIZE} count={entries.length} total={total} next={next} what="entries" />
            </>
          )
        }
      </WhenLoaded>
    </>
  );
}

function NoEntries({ isFiltered }: { readonly isFiltered: boolean }) {
  return isFiltered ? (
    <EmptyState icon="search" title="No entries match these filters">
      <a href={linkTo(['audit'])}>Clear filters</a>
    </EmptyState>
  ) : (
    <EmptyState icon="audit" title="Nothing yet">
      Sign-ins, decisions about tool calls, and changes of tokens, providers, budgets, rules and the queue appear here.
    </EmptyState>
  );
}
