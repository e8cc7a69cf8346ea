/** A call that runs only if somebody says so; what is approved is exactly what is shown. */
import { useCallback, useId, useState } from 'react';
import type { ToolCallView } from '../../business/ai/domain/types/RunViews';
import { DashboardError } from '../data/DashboardData';
import { useData } from '../data/DataContext';
import { CodeBlock } from '../components/CodeBlock';
import { Icon } from '../components/Icon';
import { useAction } from '../components/useAction';
import { hashArguments } from './hashArguments';

export function ApprovalForm({
  call,
  knownHash,
}: {
  readonly call: ToolCallView;
  readonly knownHash: string | undefined;
}) {
  const { commands } = useData();
  const [reason, setReason] = useState<string>();
  const id = useId();
  const { executionId, callId } = call;
  const decide = useAction(
    useCallback(
      async (verdict: { readonly reason?: string }) => {
        const hash = knownHash ?? (await hashArguments(call.arguments));
        if (hash === undefined)
          throw new DashboardError(
            'unsupported-feature',
            'This browser cannot check the arguments; open the page over https or on this computer.',
          );
        const decision = { executionId, callId, argumentsHash: hash };
        await (verdict.reason === undefined
          ? commands.approve(decision)
          : commands.reject({ ...decision, reason: verdict.reason }));
      },
      [commands, executionId, callId, call.arguments, knownHash],
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
        <Icon name="hand" /> <span className="mono">{call.name}</span> asks for approval
      </h2>
      <CodeBlock text={call.arguments === '' ? '{}' : call.arguments} label={`arguments of ${call.name} to approve`} />
      {reason !== undefined && (
        <label className="field" htmlFor={`${id}-reason`}>
          <span>Why not? The model is told.</span>
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
