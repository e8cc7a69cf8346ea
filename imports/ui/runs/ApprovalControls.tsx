/** Approves or rejects a call. What is approved stands above. */
import { useId, useState } from 'react';

export interface ApprovalControlsProps {
  readonly isBusy: boolean;
  readonly error: string | undefined;
  readonly onApprove: () => void;
  /** @param reason sent to the model; empty for none */
  readonly onReject: (reason: string) => void;
}

export function ApprovalControls({ isBusy, error, onApprove, onReject }: ApprovalControlsProps) {
  const [reason, setReason] = useState<string>();
  const id = useId();
  if (reason !== undefined)
    return (
      <form
        className="controls"
        onSubmit={(event) => {
          event.preventDefault();
          onReject(reason.trim());
        }}
      >
        <label className="field" htmlFor={`${id}-reason`}>
          <span>Reason (sent to the model, optional)</span>
          <input
            id={`${id}-reason`}
            value={reason}
            onChange={(event) => setReason(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Escape') setReason(undefined);
            }}
            autoFocus
            dir="auto"
            maxLength={500}
          />
        </label>
        <FormError error={error} />
        <div className="buttons">
          <button type="submit" className="button button-danger" disabled={isBusy}>
            {isBusy ? 'Rejecting…' : 'Reject'}
          </button>
          <button type="button" className="button" onClick={() => setReason(undefined)} disabled={isBusy}>
            Back
          </button>
        </div>
      </form>
    );
  return (
    <div className="controls">
      <FormError error={error} />
      <div className="buttons">
        <button
          type="button"
          className="button button-primary"
          data-action="approve"
          onClick={onApprove}
          disabled={isBusy}
        >
          {isBusy ? 'Approving…' : 'Approve'}
        </button>
        <button type="button" className="button" data-action="reject" onClick={() => setReason('')} disabled={isBusy}>
          Reject…
        </button>
      </div>
    </div>
  );
}

export function FormError({ error }: { readonly error: string | undefined }) {
  if (error === undefined) return null;
  return (
    <p className="form-error" role="alert">
      {error}
    </p>
  );
}
