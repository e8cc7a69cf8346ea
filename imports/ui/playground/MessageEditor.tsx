/** Changes a message that was sent, to send it again. */
import { useState } from 'react';
import type { KeyboardEvent } from 'react';
import { AttachmentList } from './AttachmentList';
import type { MessageInput } from './playgroundState';

export interface MessageEditorProps {
  readonly message: MessageInput;
  readonly onSend: (message: MessageInput) => void;
  readonly onCancel: () => void;
}

export function MessageEditor({ message, onSend, onCancel }: MessageEditorProps) {
  const [{ text, attachments }, setDraft] = useState(message);
  // Files that were too large to be stored are gone after a reload.
  const isSendable = attachments.every(({ dataUrl }) => dataUrl !== undefined);
  const canSend = isSendable && (text.trim() !== '' || attachments.length > 0);
  const handleKey = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') onCancel();
    if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return;
    event.preventDefault();
    if (canSend) onSend({ text, attachments });
  };
  return (
    <form
      className="message-editor"
      aria-label="Edit the message"
      onSubmit={(event) => {
        event.preventDefault();
        if (canSend) onSend({ text, attachments });
      }}
    >
      <AttachmentList
        attachments={attachments}
        onRemove={(id) => setDraft({ text, attachments: attachments.filter((each) => each.id !== id) })}
      />
      <textarea
        aria-label="Message"
        rows={3}
        dir="auto"
        value={text}
        onChange={(event) => setDraft({ text: event.target.value, attachments })}
        onKeyDown={handleKey}
        autoFocus
      />
      {!isSendable && <p className="form-error">Remove the files that were lost when the page was reloaded.</p>}
      <div className="buttons">
        <button type="submit" className="button button-primary" disabled={!canSend}>
          Send again
        </button>
        <button type="button" className="button" onClick={onCancel}>
          Cancel
        </button>
        <span className="muted hint">The messages after it are dropped.</span>
      </div>
    </form>
  );
}
