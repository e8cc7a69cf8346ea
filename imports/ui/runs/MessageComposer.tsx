/** Sends messages to a run that is under way, and shows those that wait. */
import { useCallback, useId, useState } from 'react';
import { textOfContent } from '../../business/ai/domain/entities/Content';
import type { MessageTime } from '../../business/ai/domain/types/RunMessages';
import { FoldedText } from '../components/FoldedText';
import { FormError } from '../components/FormError';
import { useAction } from '../components/useAction';
import type { LiveRun } from '../conversations/observeRun';
import type { QueuedMessage } from '../conversations/createRunMessages';

type Messages = Pick<LiveRun, 'queue' | 'send' | 'editMessage' | 'withdrawMessage'>;

export function MessageComposer({ live }: { readonly live: Messages }) {
  const { queue, send } = live;
  const [text, setText] = useState('');
  const [when, setWhen] = useState<MessageTime>('next');
  const id = useId();
  const sending = useAction(
    useCallback(
      async (message: string, time: MessageTime) => {
        await send(message, time);
        setText('');
      },
      [send],
    ),
  );
  const message = text.trim();
  const submit = (): void => {
    if (message !== '' && !sending.isBusy) sending.run(message, when);
  };
  return (
    <div className="run-composer">
      {queue.length > 0 && (
        <ol className="message-queue" aria-label="Messages that wait">
          {queue.map((each) => (
            <QueuedItem key={each.messageId} message={each} live={live} />
          ))}
        </ol>
      )}
      <form
        className="run-composer-form"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <textarea
          rows={2}
          dir="auto"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
            event.preventDefault();
            submit();
          }}
          placeholder="Message to this run"
          aria-label="Message to this run"
        />
        <div className="run-composer-actions">
          <label className="visually-hidden" htmlFor={`${id}-when`}>
            When the model receives it
          </label>
          <select id={`${id}-when`} value={when} onChange={(event) => setWhen(event.target.value as MessageTime)}>
            {TIMES.map(({ value, label }) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
          <button type="submit" className="button button-primary" disabled={sending.isBusy || message === ''}>
            Send
          </button>
        </div>
        <FormError error={sending.error} />
      </form>
    </div>
  );
}

function QueuedItem({ message, live }: { readonly message: QueuedMessage; readonly live: Messages }) {
  const { messageId, when, item, isTaken } = message;
  const { editMessage, withdrawMessage } = live;
  const sendNow = useAction(useCallback(() => editMessage(messageId, { when: 'interrupt' }), [editMessage, messageId]));
  const withdraw = useAction(useCallback(() => withdrawMessage(messageId), [withdrawMessage, messageId]));
  const isBusy = sendNow.isBusy || withdraw.isBusy;
  return (
    <li className="queued-message">
      <FoldedText text={textOfContent(item.content)} label="the message" />
      <div className="queued-actions">
        <span className="muted">{isTaken ? 'Taken by the run' : LABELS[when]}</span>
        {!isTaken && when !== 'interrupt' && (
          <button type="button" className="link-button" disabled={isBusy} onClick={() => sendNow.run()}>
            Send now
          </button>
        )}
        {!isTaken && (
          <button type="button" className="link-button" disabled={isBusy} onClick={() => withdraw.run()}>
            Withdraw
          </button>
        )}
      </div>
      <FormError error={sendNow.error ?? withdraw.error} />
    </li>
  );
}

const LABELS: Readonly<Record<MessageTime, string>> = {
  next: 'With the next request',
  interrupt: 'At once',
  after: 'After the answer',
};

const TIMES: readonly { readonly value: MessageTime; readonly label: string }[] = [
  { value: 'next', label: LABELS.next },
  { value: 'interrupt', label: 'Interrupt at once' },
  { value: 'after', label: LABELS.after },
];
