/** One run, live: what it does, what it said, what it cost, and what may be done about it. */
import { useData } from '../data/DataContext';
import type { WatchedRun } from '../data/DashboardData';
import { RUN_STATE_STYLES } from '../format/stateStyles';
import { EmptyState, WhenLoaded } from '../components/Placeholders';
import { PageTitle } from '../components/PageTitle';
import { StateBadge } from '../components/StateBadge';
import { CallCards } from './CallCards';
import { CancelButton } from './CancelButton';
import { Conversation } from './Conversation';
import { Decisions } from './Decisions';
import { EventLog } from './EventLog';
import { isLive } from './filterRuns';
import { scrollToCall } from './scrollToCall';
import { RunFacts } from './RunFacts';
import { RunTimeline } from './RunTimeline';

export function RunPage({ executionId }: { readonly executionId: string }) {
  const loaded = useData().useRun(executionId);
  return (
    <>
      <nav className="crumbs" aria-label="Where you are">
        <a href="#/runs">Runs</a> <span aria-hidden="true">/</span>{' '}
        <span className="mono">{executionId.slice(0, 8)}</span>
      </nav>
      <WhenLoaded loaded={loaded} what="run">
        {(watched) => (watched === undefined ? <UnknownRun /> : <WholeRun watched={watched} />)}
      </WhenLoaded>
    </>
  );
}

function UnknownRun() {
  return (
    <>
      <PageTitle title="Unknown run" />
      <EmptyState icon="search" title="There is no such run">
        It may have been removed, or it is somebody else’s. <a href="#/runs">Back to all runs</a>
      </EmptyState>
    </>
  );
}

function WholeRun({ watched }: { readonly watched: WatchedRun }) {
  const { run, calls } = watched;
  return (
    <article className="run-page" data-state={run.state}>
      <PageTitle title={run.title === '' ? 'Untitled run' : run.title}>
        <div className="run-actions">
          <StateBadge face={RUN_STATE_STYLES[run.state]} />
          {isLive(run.state) && <CancelButton executionId={run._id} />}
        </div>
      </PageTitle>
      <RunFacts run={run} />
      {run.error !== undefined && (
        <p className="run-failure tone-red" role="alert">
          <strong>{run.error.code}</strong> {run.error.message}
        </p>
      )}
      <Decisions watched={watched} />
      <section className="card" aria-labelledby="timeline-title">
        <h2 id="timeline-title">Timeline</h2>
        <RunTimeline watched={watched} onChoose={scrollToCall} />
      </section>
      <div className="run-columns">
        <section className="card" aria-labelledby="conversation-title">
          <h2 id="conversation-title">Conversation</h2>
          <Conversation watched={watched} onChoose={scrollToCall} />
        </section>
        <div className="run-side">
          <section className="card" aria-labelledby="calls-title">
            <h2 id="calls-title">Tool calls</h2>
            <CallCards calls={calls} />
          </section>
          <section className="card" aria-labelledby="events-title">
            <h2 id="events-title">Events</h2>
            <EventLog watched={watched} />
          </section>
        </div>
      </div>
    </article>
  );
}
