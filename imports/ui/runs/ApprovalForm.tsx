/** A tool call that needs approval. An approval covers exactly the arguments that are shown. */
import { useCallback, useId } from 'react';
import type { ToolCallView } from '../../business/ai/domain/types/RunViews';
import type { CallCommands } from '../conversations/createCallCommands';
import { Icon } from '../components/Icon';
import { useAction } from '../components/useAction';
import { ApprovalControls } from './ApprovalControls';
import { CallArguments } from './CallArguments';
import { CallInput } from './CallInput';
import { useShownArguments } from './useShownArguments';

export interface ApprovalFormProps extends Pick<CallCommands, 'approve' | 'reject'> {
  readonly call: ToolCallView;
}

export function ApprovalForm({ call, approve, reject }: ApprovalFormProps) {
  const id = useId();
  const { callId } = call;
  const { isComplete, showAll, notice, mayApprove } = useShownArguments(call);
  const decide = useAction(
    useCallback(
      (reason: string | undefined) =>
        reason === undefined ? approve(callId) : reject(callId, reason === '' ? undefined : reason),
      [approve, reject, callId],
    ),
  );
  return (
    <section className="decision tone-amber" aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>
        <Icon name="hand" /> <bdi className="mono">{call.name}</bdi> needs approval
      </h2>
      {call.input !== undefined && <CallInput input={call.input} />}
      <CallArguments
        call={call}
        label={`arguments of ${call.name} to approve`}
        isComplete={isComplete}
        onComplete={showAll}
      />
      <ApprovalControls
        isBusy={decide.isBusy}
        error={decide.error ?? notice}
        onApprove={() => mayApprove() && decide.run(undefined)}
        onReject={(reason) => decide.run(reason)}
      />
    </section>
  );
}
