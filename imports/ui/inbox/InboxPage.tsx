/** Everything that waits for a person or an outside result, across all runs. */
import { useRef, useCallback } from 'react';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import type { InboxCounts, InboxKind } from '../../business/ai/domain/types/InboxViews';
import { useData } from '../hooks/BolideProvider';
import { formatCount } from '../format/format';
import { EmptyState } from '../components/EmptyState';
import { PageTitle } from '../components/PageTitle';
import { WhenLoaded } from '../components/WhenLoaded';
import { Paging } from '../components/list/Paging';
import { SearchField } from '../components/list/SearchField';
import { useLastReady } from '../components/list/useLastReady';
import { changeFilters, parametersOf, placeOf } from '../shell/queryParameters';
import { linkTo } from '../shell/route';
import type { Route } from '../shell/route';
import { InboxList } from './InboxList';
import { useAction } from '../components/useAction';
import { chooseNotifications, useNotificationChoice } from './notificationChoice';

const LIMIT = 25;

const KINDS = [
  { kind: 'approval', label: 'Approvals' },
  { kind: 'review', label: 'Reviews' },
  { kind: 'external', label: 'Results' },
  { kind: 'parked', label: 'Parked runs' },
  { kind: 'tools', label: 'Missing tools' },
  { kind: 'failed', label: 'Failed runs' },
] as const satisfies readonly { readonly kind: InboxKind; readonly label: string }[];

export function InboxPage({ route }: { readonly route: Route }) {
  const kind = KINDS.find((each) => each.kind === route.query.get('kind'))?.kind;
  const search = route.query.get('search') ?? '';
  const { after } = placeOf(route);
  const loaded = useData().useQuery(
    'ai.inbox.list',
    omitUndefined({ limit: LIMIT, kind, search: search === '' ? undefined : search, after }),
  );
  const { shown, isStale } = useLastReady(loaded);
  const shownList = useRef('');
  if (!isStale) shownList.current = `${kind ?? ''} ${after ?? ''} ${search}`;
  const counts = shown.state === 'ready' ? shown.value.counts : undefined;
  return (
    <>
      <PageTitle title="Inbox">
        <NotificationSwitch />
      </PageTitle>
      <div className="inbox-tools">
        <KindTabs route={route} kind={kind} counts={counts} />
        <SearchField
          value={search}
          label="Search tool, run, user or error"
          placeholder="Search"
          onSearch={(text) => changeFilters(route, { search: text, entry: '' })}
        />
      </div>
      <WhenLoaded loaded={shown} what="the inbox">
        {(page) => (
          <div className="inbox" aria-busy={isStale}>
            {/* Another page has other entries; they have not vanished. */}
            <InboxList
              key={shownList.current}
              page={page}
              focus={route.query.get('entry') ?? undefined}
              empty={<NothingWaits isFiltered={kind !== undefined || search !== '' || after !== undefined} />}
            />
            {(page.next !== undefined || after !== undefined) && (
              <Paging
                route={route}
                limit={LIMIT}
                count={page.entries.length}
                total={search === '' ? page.counts[kind ?? 'total'] : undefined}
                next={page.next}
                what="entries"
              />
            )}
          </div>
        )}
      </WhenLoaded>
    </>
  );
}

function KindTabs({
  route,
  kind,
  counts,
}: {
  readonly route: Route;
  readonly kind: InboxKind | undefined;
  readonly counts: InboxCounts | undefined;
}) {
  const { kind: _kind, after: _after, page: _page, entry: _entry, ...parameters } = parametersOf(route);
  const tab = (label: string, value: InboxKind | undefined) => (
    <li key={label}>
      <a
        className="chip"
        href={linkTo(['inbox'], omitUndefined({ ...parameters, kind: value }))}
        aria-current={kind === value ? 'true' : undefined}
      >
        {label}{' '}
        {counts !== undefined && <span className="chip-amount numeric">{formatCount(counts[value ?? 'total'])}</span>}
      </a>
    </li>
  );
  return (
    <nav aria-label="Kinds of entries">
      <ul className="chips">
        {tab('All', undefined)}
        {KINDS.map((each) => tab(each.label, each.kind))}
      </ul>
    </nav>
  );
}

function NothingWaits({ isFiltered }: { readonly isFiltered: boolean }) {
  return isFiltered ? (
    <EmptyState icon="search" title="Nothing here">
      <a href={linkTo(['inbox'])}>Show everything that waits</a>
    </EmptyState>
  ) : (
    <EmptyState icon="check" title="Nothing waits for anyone">
      Approvals, interrupted calls, results from outside, parked and failed runs appear here.
    </EmptyState>
  );
}

/** Turns notifications of new entries on and off. */
function NotificationSwitch() {
  const choice = useNotificationChoice();
  const choose = useAction(useCallback((next: 'on' | 'off') => chooseNotifications(next), []));
  if (choice === 'unsupported') return null;
  if (choice === 'blocked') return <p className="muted inbox-hint">This browser blocks notifications of this site.</p>;
  return (
    <button
      type="button"
      className="button"
      aria-pressed={choice === 'on'}
      onClick={() => choose.run(choice === 'on' ? 'off' : 'on')}
      disabled={choose.isBusy}
    >
      {choice === 'on' ? 'Notifications on' : 'Notify me'}
    </button>
  );
}
