/** Approves or rejects a call. What is approved stands above. */
import { useState } from 'react';
import { FormError } from '../components/FormError';
import { RejectionForm } from './RejectionForm';

export interface ApprovalControlsProps {
  readonly isBusy: boolean;
  readonly error: string | undefined;
  readonly onApprove: () => void;
  /** @param reason sent to the model; empty for none */
  readonly onReject: (reason: string) => void;
}

export function ApprovalControls({ isBusy, error, onApprove, onReject }: ApprovalControlsProps) {
  const [isRejecting, setRejecting] = useState(false);
  if (isRejecting)
    return (
      <RejectionForm
        isBusy={isBusy}
        error={error}
        action={isBusy ? 'Rejecting…' : 'Reject'}
        onReject={onReject}
        onBack={() => setRejecting(false)}
      />
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
        <button
          type="button"
          className="button"
          data-action="reject"
          onClick={() => setRejecting(true)}
          disabled={isBusy}
        >
          Reject…
        </button>
      </div>
    </div>
  );
}
