/** Rejects a call, with a reason that the model is told. */
import { useId, useState } from 'react';
import { FormError } from '../components/FormError';

export interface RejectionFormProps {
  readonly isBusy: boolean;
  readonly error: string | undefined;
  /** The label of the button that rejects. */
  readonly action: string;
  /** What a rejection means. */
  readonly hint?: string;
  /** @param reason empty for none */
  readonly onReject: (reason: string) => void;
  readonly onBack: () => void;
}

const MAX_REASON_LENGTH = 500;

export function RejectionForm({ isBusy, error, action, hint, onReject, onBack }: RejectionFormProps) {
  const [reason, setReason] = useState('');
  const id = useId();
  return (
    <form
      className="controls"
      onSubmit={(event) => {
        event.preventDefault();
        onReject(reason.trim());
      }}
    >
      {hint !== undefined && <p className="muted">{hint}</p>}
      <label className="field" htmlFor={`${id}-reason`}>
        <span>Reason (sent to the model, optional)</span>
        <input
          id={`${id}-reason`}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') onBack();
          }}
          autoFocus
          dir="auto"
          maxLength={MAX_REASON_LENGTH}
        />
      </label>
      <FormError error={error} />
      <div className="buttons">
        <button type="submit" className="button button-danger" disabled={isBusy}>
          {action}
        </button>
        <button type="button" className="button" onClick={onBack} disabled={isBusy}>
          Back
        </button>
      </div>
    </form>
  );
}
