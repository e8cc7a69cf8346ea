/** Submits the result of a call that the server cannot provide: an external tool's, or one lost in a crash. */
import { useCallback, useId, useState } from 'react';
import { needsReview } from '../../business/ai/domain/entities/Tool';
import type { ToolCallView } from '../../business/ai/domain/types/RunViews';
import type { CallCommands } from '../hooks/useCallCommands';
import { CALL_STATE_STYLES } from '../format/stateStyles';
import { CodeBlock } from '../components/CodeBlock';
import { Icon } from '../components/Icon';
import { useAction } from '../components/useAction';

export interface ResultFormProps extends Pick<CallCommands, 'submitResult'> {
  readonly call: ToolCallView;
}

export function ResultForm({ call, submitResult }: ResultFormProps) {
  const [text, setText] = useState('');
  const [kind, setKind] = useState<'output' | 'error'>('output');
  const id = useId();
  const { callId } = call;
  const submit = useAction(
    useCallback(
      () => submitResult(callId, kind === 'output' ? { output: text } : { error: text }),
      [submitResult, callId, kind, text],
    ),
  );
  const isReview = needsReview(call);
  return (
    <form
      className={`decision tone-${isReview ? CALL_STATE_STYLES.needs_review.tone : CALL_STATE_STYLES.executing.tone}`}
      aria-labelledby={`${id}-title`}
      onSubmit={(event) => {
        event.preventDefault();
        submit.run();
      }}
    >
      <h2 id={`${id}-title`}>
        <Icon name={isReview ? 'eye' : 'arrow'} /> <span className="mono">{call.name}</span>{' '}
        {isReview ? 'needs review' : 'is waiting for a result'}
      </h2>
      <p className="muted">
        {isReview
          ? 'The server stopped during this call, so it may or may not have taken effect. Check, then enter its result.'
          : 'This tool runs outside the server. Enter its result.'}
      </p>
      <CodeBlock
        text={call.arguments === '' ? '{}' : call.arguments}
        label={`arguments of ${call.name} without a result`}
      />
      <fieldset className="choice">
        <legend className="visually-hidden">Outcome</legend>
        <label>
          <input type="radio" name={`${id}-kind`} checked={kind === 'output'} onChange={() => setKind('output')} />{' '}
          Result
        </label>
        <label>
          <input type="radio" name={`${id}-kind`} checked={kind === 'error'} onChange={() => setKind('error')} /> Error
        </label>
      </fieldset>
      <label className="field" htmlFor={`${id}-text`}>
        <span>{kind === 'output' ? 'Result (sent to the model)' : 'Error message (sent to the model)'}</span>
        <textarea id={`${id}-text`} rows={2} value={text} onChange={(event) => setText(event.target.value)} required />
      </label>
      {submit.error !== undefined && (
        <p className="form-error" role="alert">
          {submit.error}
        </p>
      )}
      <div className="buttons">
        <button type="submit" className="button button-primary" disabled={submit.isBusy}>
          {kind === 'output' ? 'Submit result' : 'Submit error'}
        </button>
      </div>
    </form>
  );
}
