/** Enters the outcome of a call that no tool of the server supplies: a text, JSON, or an error. */
import { useId, useState } from 'react';
import { FormError } from '../components/FormError';
import { OUTCOME_KINDS, readOutcome } from './readOutcome';
import type { Outcome, OutcomeKind } from './readOutcome';

export interface OutcomeFormProps {
  readonly isBusy: boolean;
  readonly error: string | undefined;
  readonly onSubmit: (outcome: Outcome) => void;
  /** Shown beside the submit button. */
  readonly onBack?: () => void;
}

const LABELS = {
  text: { choice: 'Result', field: 'Result (sent to the model)', submit: 'Submit result' },
  json: { choice: 'JSON', field: 'Result as JSON (sent to the model)', submit: 'Submit result' },
  error: { choice: 'Error', field: 'Error message (sent to the model)', submit: 'Submit error' },
} as const satisfies Record<OutcomeKind, unknown>;

export function OutcomeForm({ isBusy, error, onSubmit, onBack }: OutcomeFormProps) {
  const [kind, setKind] = useState<OutcomeKind>('text');
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string>();
  const id = useId();
  return (
    <form
      className="controls"
      onSubmit={(event) => {
        event.preventDefault();
        const outcome = readOutcome(kind, text);
        setProblem(typeof outcome === 'string' ? outcome : undefined);
        if (typeof outcome !== 'string') onSubmit(outcome);
      }}
    >
      <fieldset className="choice">
        <legend className="visually-hidden">Outcome</legend>
        {OUTCOME_KINDS.map((each) => (
          <label key={each}>
            <input
              type="radio"
              name={`${id}-kind`}
              checked={kind === each}
              onChange={() => {
                setKind(each);
                setProblem(undefined);
              }}
            />{' '}
            {LABELS[each].choice}
          </label>
        ))}
      </fieldset>
      <label className="field" htmlFor={`${id}-text`}>
        <span>{LABELS[kind].field}</span>
        <textarea
          id={`${id}-text`}
          rows={kind === 'json' ? 4 : 2}
          className={kind === 'json' ? 'mono' : ''}
          dir="auto"
          value={text}
          onChange={(event) => setText(event.target.value)}
          aria-invalid={problem !== undefined}
          required
        />
      </label>
      <FormError error={problem ?? error} />
      <div className="buttons">
        <button type="submit" className="button button-primary" disabled={isBusy}>
          {isBusy ? 'Submitting…' : LABELS[kind].submit}
        </button>
        {onBack !== undefined && (
          <button type="button" className="button" onClick={onBack} disabled={isBusy}>
            Back
          </button>
        )}
      </div>
    </form>
  );
}
