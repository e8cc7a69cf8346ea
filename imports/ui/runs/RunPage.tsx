/** One run, live: its progress, conversation, tool calls and cost, and the actions it waits for. */
import { useRun } from '../hooks/useRun';
import type { LiveRun } from '../hooks/useRun';
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
import { scrollToCall } from './scrollToCall';
import { RunFacts } from './RunFacts';
import { RunTimeline } from './RunTimeline';

export function RunPage({ executionId }: { readonly executionId: string }) {
  const live = useRun(executionId);
  return (
    <>
      <nav className="breadcrumbs" aria-label="Breadcrumb">
        <a href="#/runs">Runs</a> <span aria-hidden="true">/</span>{' '}
        <span className="mono">{executionId.slice(0, 8)}</span>
      </nav>
      <WhenLoaded loaded={live.loaded} what="the run">
        {(details) => (details === undefined ? <RunNotFound /> : <RunContent live={live} details={details} />)}
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

function RunContent({ live, details }: { readonly live: LiveRun; readonly details: RunDetails }) {
  const { run, calls } = details;
  return (
    <article className="run-page" data-state={run.state}>
      <PageTitle title={run.title === '' ? 'Untitled run' : run.title}>
        <div className="run-actions">
          <StateBadge style={RUN_STATE_STYLES[run.state]} />
          {live.isActive && <CancelButton command={live.cancel} />}
        </div>
      </PageTitle>
      <RunFacts run={run} />
      {run.error !== undefined && (
        <p className="run-failure tone-red" role="alert">
          <strong>{run.error.code}</strong> {run.error.message}
        </p>
      )}
      <PendingActions live={live} />
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
