/** Why a run was set aside, and what can be done about it. */
import { useCallback } from 'react';
import type { RunView } from '../../business/ai/domain/types/RunViews';
import { FoldedText } from '../components/FoldedText';
import { FormError } from '../components/FormError';
import { Ago } from '../components/Elapsed';
import { useAction } from '../components/useAction';
import { PARK_ADVICE } from '../format/parkAdvice';
import { useData } from '../hooks/BolideProvider';
import type { AgainChoice } from './AgainPanel';

export interface ParkedRunProps {
  readonly run: RunView;
  readonly onAgain: (choice: AgainChoice) => void;
}

export function ParkedRun({ run: { _id, parked }, onAgain }: ParkedRunProps) {
  const { call } = useData();
  const resume = useAction(
    useCallback(async () => {
      await call('ai.runs.resume', { executionId: _id });
    }, [call, _id]),
  );
  if (parked === undefined) return null;
  return (
    <section className="run-failure tone-orange" aria-label="This run is parked">
      <p>
        <strong>Parked</strong> <Ago at={parked.at} />: no process executes this run until somebody resumes it.
      </p>
      <FoldedText text={parked.message} label="the reason" />
      <p className="run-advice">{PARK_ADVICE[parked.reason]}</p>
      <FormError error={resume.error} />
      <div className="buttons">
        <button
          type="button"
          className="button button-primary"
          data-action="resume"
          disabled={resume.isBusy}
          onClick={() => resume.run()}
        >
          {resume.isBusy ? 'Resuming…' : 'Resume'}
        </button>
        <button type="button" className="button" onClick={() => onAgain({ kind: 'repeat' })}>
          Run again…
        </button>
      </div>
    </section>
  );
}
