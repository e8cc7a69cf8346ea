/** A message and its answer, live: edit and send it again, approve calls, submit results. */
import { memo, useEffect, useMemo, useState } from 'react';
import type { Item } from '../../business/ai/domain/types/ResponsesAPITypes';
import { FormError } from '../components/FormError';
import { CopyButton } from '../components/CopyButton';
import { FoldedText } from '../components/FoldedText';
import { Icon } from '../components/Icon';
import { useRun } from '../hooks/useRun';
import { PendingActions } from '../runs/PendingActions';
import { AnswerFacts } from './AnswerFacts';
import { AnswerParts } from './AnswerParts';
import { AttachmentList } from './AttachmentList';
import { MessageEditor } from './MessageEditor';
import type { MessageInput, PlaygroundAction, Turn } from './playgroundState';
import { answerOf, readTurnInput, textOfAnswer } from './readTurn';

export interface TurnViewProps {
  readonly turn: Turn;
  /** Nothing can be sent while some model is answering. */
  readonly isBusy: boolean;
  readonly isJson: boolean;
  readonly dispatch: (action: PlaygroundAction) => void;
  readonly resend: (messageId: string, input: MessageInput, before: readonly Item[]) => void;
}

export const TurnView = memo(function TurnView({ turn, isBusy, isJson, dispatch, resend }: TurnViewProps) {
  const { requestId, messageId, executionId, firstText } = turn;
  const live = useRun(executionId);
  const [isEditing, setIsEditing] = useState(false);
  const details = live.loaded.state === 'ready' ? live.loaded.value : undefined;
  const read = useMemo(() => (details === undefined ? undefined : readTurnInput(details)), [details]);
  const message = turn.input ?? read?.message;
  const hasText = live.isActive && (live.text !== '' || live.reasoning !== '');
  useEffect(() => {
    if (hasText && firstText === undefined) dispatch({ type: 'first-text', requestId, at: Date.now() });
  }, [hasText, firstText, dispatch, requestId]);
  const sendAgain = (input: MessageInput): void => {
    setIsEditing(false);
    resend(messageId, input, read?.before ?? []);
  };
  const answer = answerOf(live.messages);
  const isRunning = live.isActive || (executionId === undefined && turn.error === undefined);
  return (
    <li className="turn" data-run={executionId} data-state={live.run?.state}>
      <article className="turn-message" aria-label="You">
        {message === undefined ? (
          <p className="muted">{live.status === 'loading' ? 'Loading…' : 'This message is not stored any more.'}</p>
        ) : isEditing ? (
          <MessageEditor message={message} onSend={sendAgain} onCancel={() => setIsEditing(false)} />
        ) : (
          <>
            <AttachmentList attachments={message.attachments} />
            {message.text !== '' && <FoldedText text={message.text} label="your message" />}
            <div className="turn-buttons">
              <button type="button" className="link-button" disabled={isBusy} onClick={() => setIsEditing(true)}>
                Edit
              </button>
              <button type="button" className="link-button" disabled={isBusy} onClick={() => sendAgain(message)}>
                Run again
              </button>
            </div>
          </>
        )}
      </article>
      <article className="turn-answer" aria-label="Model" aria-busy={isRunning}>
        <FormError error={turn.error} />
        {live.run !== undefined && <AnswerFacts run={live.run} firstText={firstText} />}
        {live.status === 'not-found' && <p className="muted">This run is not stored any more.</p>}
        <FormError error={live.error?.message} />
        <AnswerParts messages={answer} calls={live.calls} isJson={isJson && !isRunning} />
        {isRunning && answer.length === 0 && (
          <p className="muted run-activity">
            <span className="dots" aria-hidden="true" /> Waiting for the model…
          </p>
        )}
        <PendingActions live={live} />
        {!isRunning && live.run?.unpriced !== undefined && (
          <p className="muted">
            {live.run.cost === undefined ? 'Cost unknown' : 'Cost known in part'}:{' '}
            {live.run.unpriced.reasons.join('; ')}
          </p>
        )}
        {!isRunning && answer.length > 0 && (
          <p className="turn-buttons">
            <CopyButton text={() => textOfAnswer(live.messages)} label="the answer" />
          </p>
        )}
        {live.status === 'unavailable' && (
          <button type="button" className="button" onClick={live.retry}>
            <Icon name="arrow" /> Try again
          </button>
        )}
      </article>
    </li>
  );
});
