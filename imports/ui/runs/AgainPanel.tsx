/** Starts another run from this one: as it was, with edits, or from one of its turns. */
import { useCallback, useEffect, useRef, useState } from 'react';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import type { RunExport } from '../../business/ai/domain/types/RunExport';
import type { RunView } from '../../business/ai/domain/types/RunViews';
import { FormError } from '../components/FormError';
import { useData } from '../hooks/BolideProvider';
import { newRequestId } from '../conversations/newRequestId';
import { useAction } from '../components/useAction';
import { WhenLoaded } from '../components/WhenLoaded';
import { goTo, linkTo } from '../shell/route';
import { AgainFields } from './AgainFields';
import { draftOf, lostParts, toStartRequest } from './again';

export interface AgainChoice {
  readonly kind: 'repeat' | 'fork';
  /** The turn of a fork, from 1: the new run continues with what came before it. */
  readonly turn?: number;
}

export interface AgainPanelProps {
  readonly run: RunView;
  readonly choice: AgainChoice;
  readonly onClose: () => void;
}

export function AgainPanel({ run, choice, onClose }: AgainPanelProps) {
  const exported = useData().useQuery('ai.runs.export', { executionId: run._id });
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    // Some browsers return a promise, which is no clean-up.
    panel.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  return (
    <section ref={panel} className="card again" aria-labelledby="again-title">
      <div className="section-head">
        <h2 id="again-title">{choice.turn === undefined ? 'Run again' : `Fork from turn ${choice.turn}`}</h2>
        <button type="button" className="link-button" onClick={onClose}>
          Close
        </button>
      </div>
      <WhenLoaded loaded={exported} what="the run’s settings">
        {(value) => <AgainForm exported={value} choice={choice} />}
      </WhenLoaded>
    </section>
  );
}

function AgainForm({ exported, choice: { turn } }: { readonly exported: RunExport; readonly choice: AgainChoice }) {
  const { call } = useData();
  const [draft, setDraft] = useState(() => draftOf(exported, turn));
  const lost = lostParts(exported);
  const start = useAction(
    useCallback(async () => {
      const named = omitUndefined({ requestId: newRequestId(), turn });
      const { executionId } = await call('ai.runs.start', toStartRequest(exported, draft, named));
      goTo(linkTo(['runs', executionId]));
    }, [call, exported, draft, turn]),
  );
  return (
    <form
      className="again-form"
      onSubmit={(event) => {
        event.preventDefault();
        start.run();
      }}
    >
      <AgainFields draft={draft} onChange={setDraft} isFork={turn !== undefined} />
      {lost.length > 0 && <p className="muted">Not carried over: {lost.join(', ')}.</p>}
      <FormError error={start.error} />
      <div className="buttons">
        <button type="submit" className="button button-primary" disabled={start.isBusy}>
          {start.isBusy ? 'Starting…' : 'Start run'}
        </button>
        <button
          type="button"
          className="button button-quiet"
          onClick={() => setDraft(draftOf(exported, turn))}
          disabled={start.isBusy}
        >
          Reset
        </button>
      </div>
    </form>
  );
}
