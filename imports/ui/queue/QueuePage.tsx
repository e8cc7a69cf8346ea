/** The job queue: what waits for a worker, failed runs, and for admins its pause and the schedules. */
import { useState } from 'react';
import type { QueueView } from '../../business/ai/domain/types/QueueViews';
import { FormError } from '../components/FormError';
import { ConfirmDialog } from '../components/ConfirmDialog';
import { EmptyState } from '../components/EmptyState';
import { Icon } from '../components/Icon';
import { PageTitle } from '../components/PageTitle';
import { useCommand } from '../components/useCommand';
import { useIsAdmin } from '../components/useIsAdmin';
import { UserLink } from '../components/User';
import { useNow } from '../components/useNow';
import { WhenLoaded } from '../components/WhenLoaded';
import { formatCount, formatRelativeTime, pluralize } from '../format/format';
import { useData } from '../hooks/BolideProvider';
import { FailedRuns } from './FailedRuns';
import { QueuedRunRow } from './QueuedRunRow';
import { ScheduleList } from './ScheduleList';

const LIMIT = 200;

export function QueuePage() {
  const isAdmin = useIsAdmin();
  const loaded = useData().useQuery('ai.queue.list', { limit: LIMIT });
  return (
    <>
      <PageTitle title="Queue" />
      <WhenLoaded loaded={loaded} what="the queue">
        {(queue) => (
          <div className="stack">
            <QueueState queue={queue} isAdmin={isAdmin} />
            <section aria-labelledby="queued-runs">
              <h2 id="queued-runs" className="section-title">
                Queued runs <span className="muted numeric">{formatCount(queue.total)}</span>
              </h2>
              {queue.runs.length === 0 ? (
                <EmptyState icon="queue" title="Nothing waits">
                  Runs that the server’s jobs queue, or that are due later, wait here for a worker.
                </EmptyState>
              ) : (
                <ul className="entry-list card">
                  {queue.runs.map((run, index) => (
                    <QueuedRunRow key={run._id} run={run} position={index + 1} isPaused={queue.paused !== undefined} />
                  ))}
                </ul>
              )}
              {queue.total > queue.runs.length && (
                <p className="muted">
                  The first {formatCount(queue.runs.length)} of {formatCount(queue.total)} are shown.
                </p>
              )}
            </section>
            <FailedRuns />
            {isAdmin && <ScheduleList />}
          </div>
        )}
      </WhenLoaded>
    </>
  );
}

function QueueState({ queue, isAdmin }: { readonly queue: QueueView; readonly isAdmin: boolean }) {
  const data = useData();
  const now = useNow(30_000);
  const resume = useCommand();
  const [isPausing, setPausing] = useState(false);
  const { paused, running, concurrency, engine } = queue;
  return (
    <section className="card queue-state" aria-label="State of the queue">
      <div className="section-head">
        <div>
          <p className={`badge tone-${paused === undefined ? 'green' : 'amber'}`}>
            <Icon name={paused === undefined ? 'check' : 'stop'} />
            {paused === undefined ? 'Taking runs' : 'Paused'}
          </p>
          {paused !== undefined && (
            <p className="muted" role="status">
              Since {formatRelativeTime(paused.at, now)}
              {paused.by !== undefined && (
                <>
                  {' by '}
                  <UserLink userId={paused.by} />
                </>
              )}
              . Runs in progress continue, and no others start.
            </p>
          )}
        </div>
        {isAdmin &&
          (paused === undefined ? (
            <button type="button" className="button" onClick={() => setPausing(true)}>
              Pause queue
            </button>
          ) : (
            <button
              type="button"
              className="button button-primary"
              disabled={resume.isBusy}
              onClick={() => resume.run(() => data.call('ai.queue.resume', {}))}
            >
              Resume queue
            </button>
          ))}
      </div>
      <p>
        <span className="numeric">
          {running} of {pluralize(concurrency, 'worker')}
        </span>{' '}
        busy in this process
        <span className="muted">
          {engine === 'local'
            ? '. The queue is in the memory of this process.'
            : '. Agenda shares the queue with other processes.'}
        </span>
      </p>
      <FormError error={resume.error?.message} />
      {isPausing && (
        <ConfirmDialog
          title="Pause the queue?"
          action="Pause queue"
          onConfirm={() => data.call('ai.queue.pause', {})}
          onClose={() => setPausing(false)}
        >
          <p>
            {pluralize(queue.total, 'queued run')} will wait, in all processes and across restarts, until the queue is
            resumed. Runs in progress continue, and so do runs that people start themselves.
          </p>
        </ConfirmDialog>
      )}
    </section>
  );
}
