/** Runs that failed for a reason that may have passed, the latest first, to be run again. */
import { useLastReady } from '../components/list/useLastReady';
import { WhenLoaded } from '../components/WhenLoaded';
import { formatCount } from '../format/format';
import { useData } from '../hooks/BolideProvider';
import { InboxList } from '../inbox/InboxList';
import { linkTo } from '../shell/route';

const LATEST = { kind: 'failed', order: 'desc', limit: 10 } as const;

export function FailedRuns() {
  const { shown } = useLastReady(useData().useQuery('ai.inbox.list', LATEST));
  return (
    <section aria-labelledby="failed-runs">
      <h2 id="failed-runs" className="section-title">
        Failed runs{' '}
        {shown.state === 'ready' && <span className="muted numeric">{formatCount(shown.value.counts.failed)}</span>}
      </h2>
      <WhenLoaded loaded={shown} what="failed runs">
        {(page) => (
          <>
            <InboxList
              page={page}
              focus={undefined}
              empty={<p className="muted">No run has failed for a reason that may have passed.</p>}
            />
            {page.next !== undefined && (
              <p className="muted">
                The latest {formatCount(page.entries.length)} are shown.{' '}
                <a href={linkTo(['inbox'], { kind: 'failed' })}>All are in the inbox</a>
              </p>
            )}
          </>
        )}
      </WhenLoaded>
    </section>
  );
}
