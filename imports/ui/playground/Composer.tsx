/** The next message: text, images and files that are picked, dropped or pasted. */
import { useId, useRef, useState } from 'react';
import type { ClipboardEvent, DragEvent, KeyboardEvent } from 'react';
import { Icon } from '../components/Icon';
import { AttachmentList } from './AttachmentList';
import { formatBytes, MAX_ATTACHED_BYTES, readFiles } from './attachments';
import type { Attachment } from './attachments';
import type { MessageInput } from './playgroundState';

export interface ComposerProps {
  readonly message: MessageInput;
  readonly onChange: (change: Partial<MessageInput>) => void;
  readonly onAttach: (attachments: readonly Attachment[]) => void;
  readonly onSend: () => void;
  readonly onStop: () => void;
  readonly isBusy: boolean;
  /** Why the message cannot be sent. */
  readonly obstacle: string | undefined;
  /** The caption of the send button. */
  readonly caption: string;
  /** What the chosen models don't take. */
  readonly warning: string | undefined;
}

export function Composer({
  message: { text, attachments },
  onChange,
  onAttach,
  onSend,
  onStop,
  isBusy,
  obstacle,
  caption,
  warning,
}: ComposerProps) {
  const id = useId();
  const picker = useRef<HTMLInputElement>(null);
  const [problems, setProblems] = useState<readonly string[]>([]);
  const [isDropTarget, setIsDropTarget] = useState(false);
  const canSend = !isBusy && obstacle === undefined && (text.trim() !== '' || attachments.length > 0);
  const add = (files: readonly File[]): void => {
    if (files.length === 0) return;
    void readFiles(files, attachments).then((read) => {
      setProblems(read.problems);
      if (read.attachments.length > 0) onAttach(read.attachments);
    });
  };
  const paste = (event: ClipboardEvent): void => {
    const files = [...event.clipboardData.files];
    if (files.length === 0) return;
    event.preventDefault();
    add(files);
  };
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setIsDropTarget(false);
    add([...event.dataTransfer.files]);
  };
  const sendByKey = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return;
    event.preventDefault();
    if (canSend) onSend();
  };
  return (
    <form
      className={isDropTarget ? 'composer is-drop-target' : 'composer'}
      aria-label="Message"
      onSubmit={(event) => {
        event.preventDefault();
        if (canSend) onSend();
      }}
      onDragOver={(event) => {
        event.preventDefault();
        setIsDropTarget(true);
      }}
      onDragLeave={() => setIsDropTarget(false)}
      onDrop={drop}
    >
      <AttachmentList
        attachments={attachments}
        onRemove={(removed) => onChange({ attachments: attachments.filter((each) => each.id !== removed) })}
      />
      <label className="visually-hidden" htmlFor={`${id}-prompt`}>
        Prompt
      </label>
      <textarea
        id={`${id}-prompt`}
        name="prompt"
        rows={3}
        dir="auto"
        value={text}
        onChange={(event) => onChange({ text: event.target.value })}
        onKeyDown={sendByKey}
        onPaste={paste}
        placeholder="Ask anything"
      />
      <div className="composer-problems" role="alert">
        {problems.map((problem) => (
          <p key={problem} className="form-error">
            {problem}
          </p>
        ))}
      </div>
      <div className="buttons">
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          aria-label="Images and files"
          onChange={({ target }) => {
            add([...(target.files ?? [])]);
            target.value = '';
          }}
        />
        <button
          type="button"
          className="button button-quiet"
          onClick={() => picker.current?.click()}
          title={`Images and files, up to ${formatBytes(MAX_ATTACHED_BYTES)} in all. You can also drop or paste them.`}
        >
          <Icon name="clip" /> Attach
        </button>
        <span className="muted hint composer-hint">{obstacle ?? warning ?? 'Ctrl+Enter or ⌘+Enter'}</span>
        <span className="spacer" />
        {isBusy ? (
          <button type="button" className="button button-danger" onClick={onStop}>
            <Icon name="stop" /> Stop
          </button>
        ) : (
          <button type="submit" className="button button-primary" disabled={!canSend}>
            {caption}
          </button>
        )}
      </div>
    </form>
  );
}
