/** The current state at a glance: active runs, pending approvals, and the last two weeks. */
import type { ReactNode } from 'react';
import type { RunCountView } from '../../business/ai/domain/types/RunViews';
import { useData } from '../hooks/BolideProvider';
import type { ListedRun } from '../data/DashboardData';
import { formatCount, formatMoney } from '../format/format';
import { EmptyState } from '../components/EmptyState';
import { WhenLoaded } from '../components/WhenLoaded';
import { PageTitle } from '../components/PageTitle';
import { useNow } from '../components/useNow';
import { isLive } from '../runs/isLive';
import { RunTable } from '../runs/RunTable';
import { DayChart } from './DayChart';
import { dayOf, lastDays } from './days';
import { ProviderBars } from './ProviderBars';

const DAYS = 14;
const RECENT_RUNS = 6;

export function OverviewPage() {
  const data = useData();
  const runs = data.useRuns();
  const statistics = data.useStatistics();
  return (
    <>
      <PageTitle title="Overview">
        <a className="button button-primary" href="#/playground">
          New run
        </a>
      </PageTitle>
      <WhenLoaded loaded={runs} what="runs">
        {(list) => (
          <>
            <Tiles runs={list} counts={statistics.state === 'ready' ? statistics.value : []} />
            <section className="card run-list-card" aria-labelledby="latest-title">
              <div className="card-head">
                <h2 id="latest-title">Recent runs</h2>
                <a href="#/runs">View all</a>
              </div>
              {list.length === 0 ? (
                <EmptyState icon="spark" title="No runs yet">
                  <a href="#/playground">Start one in the playground</a>
                </EmptyState>
              ) : (
                <RunTable runs={sortByUrgency(list)} label="Recent runs" />
              )}
            </section>
          </>
        )}
      </WhenLoaded>
      <WhenLoaded loaded={statistics} what="statistics">
        {(counts) => <Charts counts={counts} />}
      </WhenLoaded>
    </>
  );
}

function Charts({ counts }: { readonly counts: readonly RunCountView[] }) {
  const now = useNow(60_000);
  return (
    <div className="charts">
      <section className="card" aria-labelledby="days-title">
        <h2 id="days-title">Runs by day</h2>
        <DayChart counts={counts} days={lastDays(now, DAYS)} />
      </section>
      <section className="card" aria-labelledby="by-provider-title">
        <h2 id="by-provider-title">By provider</h2>
        <ProviderBars counts={counts} />
      </section>
    </div>
  );
}

function Tiles({ runs, counts }: { readonly runs: readonly ListedRun[]; readonly counts: readonly RunCountView[] }) {
  const today = dayOf(useNow(60_000));
  const live = runs.filter((run) => isLive(run.state)).length;
  const awaitingApproval = runs.reduce((sum, run) => sum + run.awaitingApproval.length, 0);
  const ended = (state: RunCountView['state']): number =>
    counts.filter((row) => row.day === today && row.state === state).reduce((sum, row) => sum + row.count, 0);
  const todays = runs.filter((run) => dayOf(run.createdAt) === today);
  const tokens = todays.reduce((sum, run) => sum + run.usage.total_tokens, 0);
  // An unknown cost is not zero.
  const costs = todays.flatMap(({ cost }) => cost ?? []);
  return (
    <div className="tiles">
      <Tile name="Active" href="#/runs?state=live" tone="blue">
        {live}
      </Tile>
      <Tile name="Needs approval" href="#/runs?state=needs-approval" tone={awaitingApproval > 0 ? 'amber' : 'grey'}>
        {awaitingApproval}
      </Tile>
      <Tile name="Completed today" href="#/runs?state=completed" tone="green">
        {formatCount(ended('completed'))}
      </Tile>
      <Tile name="Failed today" href="#/runs?state=failed" tone={ended('failed') > 0 ? 'red' : 'grey'}>
        {formatCount(ended('failed'))}
      </Tile>
      <Tile name="Tokens today" tone="grey">
        {formatCount(tokens)}
      </Tile>
      <Tile name="Cost today" tone="grey">
        {costs.length === 0 ? '–' : formatMoney(costs.reduce((sum, cost) => sum + cost, 0))}
      </Tile>
    </div>
  );
}

function Tile({
  name,
  href,
  tone,
  children,
}: {
  readonly name: string;
  readonly href?: string;
  readonly tone: string;
  readonly children: ReactNode;
}) {
  const inner = (
    <>
      <span className="tile-name">{name}</span>
      <span className="tile-value numeric">{children}</span>
    </>
  );
  const className = `tile tone-${tone}`;
  return href === undefined ? (
    <div className={className}>{inner}</div>
  ) : (
    <a className={className} href={href}>
      {inner}
    </a>
  );
}

/** Runs that wait for approval come first, then active runs, then the newest. */
function sortByUrgency(runs: readonly ListedRun[]): readonly ListedRun[] {
  const rank = (run: ListedRun): number => (run.awaitingApproval.length > 0 ? 0 : isLive(run.state) ? 1 : 2);
  return runs.toSorted((a, b) => rank(a) - rank(b)).slice(0, RECENT_RUNS);
}
