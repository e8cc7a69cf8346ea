/** The current state at a glance: what waits, what runs, what today came to, and the last week. */
import { useMemo } from 'react';
import { EmptyState } from '../components/EmptyState';
import { useLastReady } from '../components/list/useLastReady';
import { PageTitle } from '../components/PageTitle';
import { useNow } from '../components/useNow';
import { WhenLoaded } from '../components/WhenLoaded';
import { useData } from '../hooks/BolideProvider';
import { RunTable } from '../runs/RunTable';
import { MODEL_MEASURES } from '../usage/measures';
import { UnknownCosts } from '../usage/UnknownCosts';
import { lastHours } from '../usage/usagePeriod';
import { UsageCharts } from '../usage/UsageCharts';
import { Tiles } from './Tiles';
import { linkTo } from '../shell/route';

const RECENT = { limit: 6 } as const;
const WEEK_HOURS = 7 * 24;
/** The other charts are on the usage page. */
const MEASURES = MODEL_MEASURES.filter(({ name }) => ['cost', 'requests', 'tokens', 'duration'].includes(name));

export function OverviewPage() {
  return (
    <>
      <PageTitle title="Overview">
        <a className="button button-primary" href={linkTo(['playground'])}>
          New run
        </a>
      </PageTitle>
      <Tiles />
      <RecentRuns />
      <LastWeek />
    </>
  );
}

function RecentRuns() {
  const { shown } = useLastReady(useData().useQuery('ai.runs.list', RECENT));
  return (
    <section className="card run-list-card" aria-labelledby="latest-title">
      <div className="card-head">
        <h2 id="latest-title">Recent runs</h2>
        <a href={linkTo(['runs'])}>View all</a>
      </div>
      <WhenLoaded loaded={shown} what="runs">
        {({ runs }) =>
          runs.length === 0 ? (
            <EmptyState icon="spark" title="No runs yet">
              <a href={linkTo(['playground'])}>Start one in the playground</a>
            </EmptyState>
          ) : (
            <RunTable runs={runs} label="Recent runs" />
          )
        }
      </WhenLoaded>
    </section>
  );
}

function LastWeek() {
  const { from, to, interval, utcOffset } = lastHours(WEEK_HOURS, useNow(60_000));
  const period = useMemo(
    () => ({ from, to, interval, utcOffset, groupBy: 'model' }) as const,
    [from, to, interval, utcOffset],
  );
  const { shown } = useLastReady(useData().useQuery('ai.usage.report', period));
  return (
    <section className="usage-report" aria-labelledby="week-title">
      <div className="card-head">
        <h2 id="week-title">Last 7 days, by model</h2>
        <a href={linkTo(['usage'], { by: 'model' })}>Other periods and groups</a>
      </div>
      <WhenLoaded loaded={shown} what="the usage of the last week">
        {(report) => (
          <>
            <UnknownCosts unpriced={report.unpriced} />
            <UsageCharts report={report} interval={period.interval} isGrouped measures={MEASURES} />
          </>
        )}
      </WhenLoaded>
    </section>
  );
}
