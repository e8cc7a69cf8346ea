/** One run, live: its progress, conversation, tool calls and cost, and the actions it waits for. */
import { useState, useMemo } from 'react';
import { useRun } from '../hooks/useRun';
import type { LiveRun } from '../conversations/observeRun';
import type { RunDetails } from '../data/DashboardData';
import { cutText, wellFormed } from '../format/text';
import { EmptyState } from '../components/EmptyState';
import { WhenLoaded } from '../components/WhenLoaded';
import { PageTitle } from '../components/PageTitle';
import { cacheMisses } from './cacheMisses';
import { AgainPanel } from './AgainPanel';
import type { AgainChoice } from './AgainPanel';
import { CallCards } from './CallCards';
import { renderCalledRun } from './CalledRun';
import { Conversation } from './Conversation';
import { EventLog } from './EventLog';
import { MessageComposer } from './MessageComposer';
import { ToolNotices } from './ToolNotices';
import { ParkedRun } from './ParkedRun';
import { PendingActions } from './PendingActions';
import { RunActions } from './RunActions';
import { RunFacts } from './RunFacts';
import { RunFeedback } from './RunFeedback';
import { RunRelations } from './RunRelations';
import { RunTimeline } from './RunTimeline';
import { TurnList } from './TurnList';
import { turnRecords } from './turnRecords';
import { turnTimes } from './turnTimes';
import { usePlainText } from './usePlainText';
import { linkTo } from '../shell/route';
import { useData } from '../hooks/BolideProvider';
import type { RequestView } from '../../business/ai/domain/types/RequestRecords';
import type { RunError } from '../../business/ai/domain/types/RunViews';
import { ERROR_ADVICE } from '../format/errorAdvice';
import type { ErrorAdvice } from '../format/errorAdvice';
import { FoldedText } from '../components/FoldedText';
import { uiRoot } from '../shell/uiRoot';

export function RunPage({ executionId }: { readonly executionId: string }) {
  const live = useRun(executionId);
  return (
    <>
      <nav className="breadcrumbs" aria-label="Breadcrumb">
        <a href={linkTo(['runs'])}>Runs</a> <span aria-hidden="true">/</span>{' '}
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
        It may have been removed, or it belongs to another user. <a href={linkTo(['runs'])}>View all runs</a>
      </EmptyState>
    </>
  );
}

function RunContent({ live, details }: { readonly live: LiveRun; readonly details: RunDetails }) {
  const { run, items, calls } = details;
  const requests = useRunRequests(run._id);
  const externalTools = useExternalTools();
  const [isPlain, setPlain] = usePlainText();
  const [again, setAgain] = useState<AgainChoice>();
  const misses = useMemo(() => cacheMisses(requests), [requests]);
  const turns = turnTimes(requests, details.turns);
  const selectTurn = (turn: number): void => openCard(`turn-${turn}`);
  return (
    <article className="run-page" data-state={run.state}>
      <PageTitle title={run.title === '' ? 'Untitled run' : wellFormed(cutText(run.title, MAX_TITLE))}>
        <RunActions live={live} run={run} onAgain={setAgain} />
      </PageTitle>
      <RunFacts run={run} requests={requests} />
      <RunRelations run={run} />
      {run.error !== undefined && run.state !== 'cancelled' && <RunFailure error={run.error} />}
      {run.parked !== undefined && <ParkedRun run={run} onAgain={setAgain} />}
      <ToolNotices run={run} />
      <PendingActions live={live} />
      {again !== undefined && (
        <AgainPanel
          key={`${again.kind} ${again.turn ?? ''}`}
          run={run}
          choice={again}
          onClose={() => setAgain(undefined)}
        />
      )}
      <section className="card" aria-labelledby="timeline-title">
        <h2 id="timeline-title">Timeline</h2>
        <RunTimeline
          run={run}
          items={items}
          calls={calls}
          turns={turns}
          externalTools={externalTools}
          onSelectCall={scrollToCall}
          onSelectTurn={selectTurn}
        />
      </section>
      <div className="run-columns">
        <section className="card" aria-labelledby="conversation-title">
          <div className="section-head">
            <h2 id="conversation-title">Conversation</h2>
            <button type="button" className="link-button" aria-pressed={isPlain} onClick={() => setPlain(!isPlain)}>
              {isPlain ? 'Show Markdown' : 'Show plain text'}
            </button>
          </div>
          <Conversation details={details} onSelect={scrollToCall} isPlain={isPlain} />
          {live.isActive && <MessageComposer live={live} />}
        </section>
        <div className="run-side">
          <section className="card" aria-labelledby="turns-title">
            <h2 id="turns-title">Turns</h2>
            <TurnList
              turns={turnRecords(run.iterations, requests, turns)}
              misses={misses}
              {...(live.isActive && run.parked === undefined
                ? {}
                : { onFork: (turn: number) => setAgain({ kind: 'fork', turn }) })}
            />
          </section>
          <section className="card" aria-labelledby="calls-title">
            <h2 id="calls-title">Tool calls</h2>
            <CallCards calls={calls} renderRun={renderCalledRun} />
          </section>
          <RunFeedback run={run} />
          <section className="card" aria-labelledby="events-title">
            <h2 id="events-title">Events</h2>
            <EventLog details={details} requests={requests} />
          </section>
        </div>
      </div>
    </article>
  );
}

/** The server cuts titles; a page must not rely on it. */
const MAX_TITLE = 160;

/** The names of the tools whose results another service supplies. */
function useExternalTools(): ReadonlySet<string> {
  const tools = useData().useQuery('ai.tools.list', {});
  const list = tools.state === 'ready' ? tools.value : undefined;
  return useMemo(() => new Set((list ?? []).filter((tool) => tool.external).map((tool) => tool.name)), [list]);
}

/** @returns none while they load, and where the log is off; otherwise the first 200, oldest first */
function useRunRequests(executionId: string): readonly RequestView[] {
  const loaded = useData().useQuery('ai.requests.list', { executionId, order: 'asc', limit: 200 });
  return loaded.state === 'ready' ? loaded.value.requests : NONE;
}

const NONE: readonly RequestView[] = [];

/** Expands a card, scrolls it into view and focuses it. */
function scrollToCall(callId: string): void {
  openCard(`call-${callId}`);
}

/** @param id of the element */
function openCard(id: string): void {
  const card = uiRoot().getElementById(id);
  if (!(card instanceof HTMLDetailsElement)) return;
  card.open = true;
  card.scrollIntoView({ block: 'nearest' });
  card.querySelector('summary')?.focus({ preventScroll: true });
}

/** Why a run failed: the code, its meaning, the message, and what to do. */
function RunFailure({ error }: { readonly error: RunError }) {
  // A newer server may have codes that this page lacks.
  const known = ERROR_ADVICE[error.code] as ErrorAdvice | undefined;
  return (
    <div className="run-failure tone-red" role="alert">
      <p>
        <strong className="mono">{error.code}</strong> {known?.meaning}
      </p>
      <FoldedText text={error.message} label="the error" />
      {known !== undefined && (
        <p className="run-advice">
          {known.advice}
          {error.retryable === true && ' The same request may succeed if it is sent again.'}
        </p>
      )}
    </div>
  );
}
