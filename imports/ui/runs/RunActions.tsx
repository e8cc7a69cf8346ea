/** What can be done with a run: cancel it, run it again, compare it, save it, and refer to it. */
import { useCallback } from 'react';
import type { RunView } from '../../business/ai/domain/types/RunViews';
import { useData } from '../hooks/BolideProvider';
import type { LiveRun } from '../conversations/observeRun';
import { runBadge } from '../format/runBadge';
import { CopyButton } from '../components/CopyButton';
import { StateBadge } from '../components/StateBadge';
import { useAction } from '../components/useAction';
import { linkTo } from '../shell/route';
import type { AgainChoice } from './AgainPanel';
import { downloadText } from '../components/downloadText';

export interface RunActionsProps {
  readonly live: LiveRun;
  readonly run: RunView;
  readonly onAgain: (choice: AgainChoice) => void;
}

export function RunActions({ live, run, onAgain }: RunActionsProps) {
  const { call } = useData();
  const save = useAction(
    useCallback(
      async () =>
        downloadJson(
          `run-${run._id.replace(/[^\w-]/g, '_')}.json`,
          await call('ai.runs.export', { executionId: run._id }),
        ),
      [call, run._id],
    ),
  );
  return (
    <div className="run-actions">
      <StateBadge style={runBadge(run, live.calls)} />
      {live.isActive ? (
        <CancelButton command={live.cancel} />
      ) : (
        <button type="button" className="button" onClick={() => onAgain({ kind: 'repeat' })}>
          Run again…
        </button>
      )}
      <a className="button" href={linkTo(['playground'], { run: run._id })}>
        Open in playground
      </a>
      <a className="button" href={linkTo(['runs', run._id, 'diff'])}>
        Compare
      </a>
      <button type="button" className="button" onClick={() => save.run()} disabled={save.isBusy}>
        {save.isBusy ? 'Exporting…' : 'Export JSON'}
      </button>
      <CopyButton text={run._id} label="the run’s id" caption="Copy id" />
      <CopyButton text={() => window.location.href} label="the link to this run" caption="Copy link" />
      {save.error !== undefined && (
        <span className="form-error" role="alert">
          {save.error}
        </span>
      )}
    </div>
  );
}

/** Saves a value as a JSON file. */
function downloadJson(name: string, value: unknown): void {
  downloadText(name, JSON.stringify(value, undefined, 2), 'application/json');
}

/** Cancels an active run, and shows why if that fails. */
function CancelButton({ command }: { readonly command: () => Promise<void> }) {
  const cancel = useAction(command);
  return (
    <>
      {cancel.error !== undefined && (
        <span className="form-error" role="alert">
          {cancel.error}
        </span>
      )}
      <button type="button" className="button button-danger" onClick={() => cancel.run()} disabled={cancel.isBusy}>
        {cancel.isBusy ? 'Cancelling…' : 'Cancel run'}
      </button>
    </>
  );
}
