/** Submits the result of an external tool's call. */
import { useCallback, useId } from 'react';
import type { ToolCallView } from '../../business/ai/domain/types/RunViews';
import type { CallCommands } from '../conversations/createCallCommands';
import { CALL_STATE_STYLES } from '../format/stateStyles';
import { Icon } from '../components/Icon';
import { useAction } from '../components/useAction';
import { CallArguments } from './CallArguments';
import { CallInput } from './CallInput';
import { OutcomeForm } from './OutcomeForm';
import type { Outcome } from './readOutcome';

export interface ResultFormProps extends Pick<CallCommands, 'submitResult'> {
  readonly call: ToolCallView;
}

export function ResultForm({ call, submitResult }: ResultFormProps) {
  const id = useId();
  const { callId } = call;
  const submit = useAction(useCallback((outcome: Outcome) => submitResult(callId, outcome), [submitResult, callId]));
  return (
    <section className={`decision tone-${CALL_STATE_STYLES.executing.tone}`} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>
        <Icon name="arrow" /> <bdi className="mono">{call.name}</bdi> is waiting for a result
      </h2>
      {call.input === undefined ? (
        <p className="muted">This tool runs outside the server. Enter its result.</p>
      ) : (
        <CallInput input={call.input} />
      )}
      <CallArguments call={call} label={`arguments of ${call.name} without a result`} />
      <OutcomeForm isBusy={submit.isBusy} error={submit.error} onSubmit={submit.run} />
    </section>
  );
}
