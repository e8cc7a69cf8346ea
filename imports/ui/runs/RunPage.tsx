/** One run, live: its progress, conversation, tool calls and cost, and the actions it waits for. */
import { useData } from '../data/DataContext';
import type { RunDetails } from '../data/DashboardData';
import { RUN_STATE_STYLES } from '../format/stateStyles';
import { EmptyState } from '../components/EmptyState';
import { WhenLoaded } from '../components/WhenLoaded';
import { PageTitle } from '../components/PageTitle';
import { StateBadge } from '../components/StateBadge';
import { CallCards } from './CallCards';
import { CancelButton } from './CancelButton';
import { Conversation } from './Conversation';
import { PendingActions } from './PendingActions';
import { EventLog } from './EventLog';
import { isLive } from './isLive';
import { scrollToCall } from './scrollToCall';
import { RunFacts } from './RunFacts';
import { RunTimeline } from './RunTimeline';

export function RunPage({ executionId }: { readonly executionId: string }) {
  const loaded = useData().useRun(executionId);
  return (
    <>
      <nav className="breadcrumbs" aria-label="Breadcrumb">
        <a href="#/runs">Runs</a> <span aria-hidden="true">/</span>{' '}
        <span className="mono">{executionId.slice(0, 8)}</span>
      </nav>
      <WhenLoaded loaded={loaded} what="the run">
        {(details) => (details === undefined ? <RunNotFound /> : <RunContent details={details} />)}
      </WhenLoaded>
    </>
  );
}

function RunNotFound() {
  return (
    <>
      <PageTitle title="Run not found" />
      <EmptyState icon="search" title="This run doesn’t exist">
        It may have been removed, or it belongs to another user. <a href="#/runs">View all runs</a>
      </EmptyState>
    </>
  );
}

function RunContent({ details }: { readonly details: RunDetails }) {
  const { run, calls } = details;
  return (
    <article className="run-page" data-state={run.state}>
      <PageTitle title={run.title === '' ? 'Untitled run' : run.title}>
        <div className="run-actions">
          <StateBadge style={RUN_STATE_STYLES[run.state]} />
          {isLive(run.state) && <CancelButton executionId={run._id} />}
        </div>
      </PageTitle>
      <RunFacts run={run} />
      {run.error !== undefined && (
        <p className="run-failure tone-red" role="alert">
          <strong>{run.error.code}</strong> {run.error.message}
        </p>
      )}
      <PendingActions details={details} />
      <section className="card" aria-labelledby="timeline-title">
        <h2 id="timeline-title">Timeline</h2>
        <RunTimeline details={details} onSelect={scrollToCall} />
      </section>
      <div className="run-columns">
        <section className="card" aria-labelledby="conversation-title">
          <h2 id="conversation-title">Conversation</h2>
          <Conversation details={details} onSelect={scrollToCall} />
        </section>
        <div className="run-side">
          <section className="card" aria-labelledby="calls-title">
            <h2 id="calls-title">Tool calls</h2>
            <CallCards calls={calls} />
          </section>
          <section className="card" aria-labelledby="events-title">
            <h2 id="events-title">Events</h2>
            <EventLog details={details} />
          </section>
        </div>
      </div>
    </article>
  );
}
