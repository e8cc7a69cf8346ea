/** A tool call that needs approval. An approval covers exactly the arguments that are shown. */
import { useCallback, useId, useState } from 'react';
import type { ToolCallView } from '../../business/ai/domain/types/RunViews';
import type { CallCommands } from '../hooks/useCallCommands';
import { CodeBlock } from '../components/CodeBlock';
import { Icon } from '../components/Icon';
import { useAction } from '../components/useAction';

export interface ApprovalFormProps extends Pick<CallCommands, 'approve' | 'reject'> {
  readonly call: ToolCallView;
}

export function ApprovalForm({ call, approve, reject }: ApprovalFormProps) {
  const [reason, setReason] = useState<string>();
  const id = useId();
  const { callId } = call;
  const decide = useAction(
    useCallback(
      (verdict: { readonly reason?: string }) =>
        verdict.reason === undefined ? approve(callId) : reject(callId, verdict.reason),
      [approve, reject, callId],
    ),
  );
  return (
    <form
      className="decision tone-amber"
      aria-labelledby={`${id}-title`}
      onSubmit={(event) => {
        event.preventDefault();
        decide.run(reason === undefined ? {} : { reason });
      }}
    >
      <h2 id={`${id}-title`}>
        <Icon name="hand" /> <span className="mono">{call.name}</span> needs approval
      </h2>
      <CodeBlock text={call.arguments === '' ? '{}' : call.arguments} label={`arguments of ${call.name} to approve`} />
      {reason !== undefined && (
        <label className="field" htmlFor={`${id}-reason`}>
          <span>Reason (sent to the model)</span>
          <input
            id={`${id}-reason`}
            value={reason}
            onChange={(event) => setReason(event.target.value)}
            required
            autoFocus
            maxLength={500}
          />
        </label>
      )}
      {decide.error !== undefined && (
        <p className="form-error" role="alert">
          {decide.error}
        </p>
      )}
      <div className="buttons">
        {reason === undefined ? (
          <>
            <button type="submit" className="button button-primary" disabled={decide.isBusy}>
              Approve
            </button>
            <button type="button" className="button" onClick={() => setReason('')} disabled={decide.isBusy}>
              Reject…
            </button>
          </>
        ) : (
          <>
            <button type="submit" className="button button-danger" disabled={decide.isBusy}>
              Reject
            </button>
            <button type="button" className="button" onClick={() => setReason(undefined)}>
              Back
            </button>
          </>
        )}
      </div>
    </form>
  );
}
