/** A tool call that was interrupted while it ran, so that it is unknown whether it took effect. */
import { useCallback, useId } from 'react';
import type { ToolCallView } from '../../business/ai/domain/types/RunViews';
import type { CallCommands } from '../conversations/createCallCommands';
import { CALL_STATE_STYLES } from '../format/stateStyles';
import { Icon } from '../components/Icon';
import { useAction } from '../components/useAction';
import { CallArguments } from './CallArguments';
import { ReviewControls } from './ReviewControls';
import { useShownArguments } from './useShownArguments';

export interface ReviewFormProps extends CallCommands {
  readonly call: ToolCallView;
}

export function ReviewForm({ call, approve, reject, submitResult }: ReviewFormProps) {
  const id = useId();
  const { callId } = call;
  const { isComplete, showAll, notice, mayApprove } = useShownArguments(call);
  const decide = useAction(useCallback((command: () => Promise<unknown>) => command(), []));
  return (
    <section className={`decision tone-${CALL_STATE_STYLES.needs_review.tone}`} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>
        <Icon name="eye" /> <bdi className="mono">{call.name}</bdi> needs review
      </h2>
      <p className="muted">
        The server stopped during this call, so it may or may not have taken effect. Check, then decide.
      </p>
      <CallArguments
        call={call}
        label={`arguments of ${call.name} to review`}
        isComplete={isComplete}
        onComplete={showAll}
      />
      <ReviewControls
        isBusy={decide.isBusy}
        error={decide.error ?? notice}
        onRerun={() => mayApprove() && decide.run(() => approve(callId))}
        onReject={(reason) => decide.run(() => reject(callId, reason === '' ? undefined : reason))}
        onSubmit={(outcome) => decide.run(() => submitResult(callId, outcome))}
      />
    </section>
  );
}
