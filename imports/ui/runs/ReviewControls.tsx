/** Decides about a call that was interrupted: run it again, tell the model that its outcome is unknown, or enter it. */
import { useState } from 'react';
import { FormError } from '../components/FormError';
import { OutcomeForm } from './OutcomeForm';
import type { Outcome } from './readOutcome';
import { RejectionForm } from './RejectionForm';

export interface ReviewControlsProps {
  readonly isBusy: boolean;
  readonly error: string | undefined;
  readonly onRerun: () => void;
  /** @param reason sent to the model; empty for none */
  readonly onReject: (reason: string) => void;
  readonly onSubmit: (outcome: Outcome) => void;
}

const REJECTION = 'The model learns that the tool may or may not have taken effect, and that it was not run again.';
const RERUN = 'The tool runs once more with the same arguments. If it took effect before, it does so twice.';

export function ReviewControls({ isBusy, error, onRerun, onReject, onSubmit }: ReviewControlsProps) {
  const [choice, setChoice] = useState<'rerun' | 'reject' | 'enter'>();
  const back = (): void => setChoice(undefined);
  switch (choice) {
    case undefined:
      return (
        <div className="controls">
          <FormError error={error} />
          <div className="buttons">
            <button
              type="button"
              className="button"
              data-action="approve"
              onClick={() => setChoice('rerun')}
              disabled={isBusy}
            >
              Run again…
            </button>
            <button
              type="button"
              className="button"
              data-action="reject"
              onClick={() => setChoice('reject')}
              disabled={isBusy}
            >
              Outcome unknown…
            </button>
            <button type="button" className="button" onClick={() => setChoice('enter')} disabled={isBusy}>
              Enter the result…
            </button>
          </div>
        </div>
      );
    case 'rerun':
      return (
        <div className="controls">
          <p className="muted">{RERUN}</p>
          <FormError error={error} />
          <div className="buttons">
            <button type="button" className="button button-danger" onClick={onRerun} disabled={isBusy} autoFocus>
              {isBusy ? 'Starting…' : 'Run again'}
            </button>
            <button type="button" className="button" onClick={back} disabled={isBusy}>
              Back
            </button>
          </div>
        </div>
      );
    case 'reject':
      return (
        <RejectionForm
          isBusy={isBusy}
          error={error}
          action={isBusy ? 'Sending…' : 'Report as unknown'}
          hint={REJECTION}
          onReject={onReject}
          onBack={back}
        />
      );
    case 'enter':
      return <OutcomeForm isBusy={isBusy} error={error} onSubmit={onSubmit} onBack={back} />;
  }
}
