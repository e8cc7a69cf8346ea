/** A run in the inbox: why it failed or waits, and what can be done about it. */
import type { RunEntry as RunInboxEntry } from '../../business/ai/domain/types/InboxViews';
import { explainAwaitedTools } from '../format/explainAwaitedTools';
import { FoldedText } from '../components/FoldedText';
import { FormError } from '../components/FormError';
import type { EntryCommands, EntryStatus } from './useDecisions';

export interface RunEntryProps {
  readonly entry: RunInboxEntry;
  readonly status: EntryStatus;
  readonly commands: EntryCommands;
  readonly onDecide: () => boolean;
}

export function RunEntry({ entry, status, commands, onDecide }: RunEntryProps) {
  const cause = causeOf(entry);
  const button = (action: string, label: string, command: () => Promise<void>, style = '') => (
    <button
      type="button"
      className={`button ${style}`}
      data-action={action}
      disabled={status.isBusy}
      onClick={() => {
        if (onDecide()) void command();
      }}
    >
      {label}
    </button>
  );
  return (
    <div className="controls">
      <div className="inbox-error">
        <strong className="mono">{cause.code}</strong>
        <FoldedText text={cause.message} label="the reason" lines={4} length={400} />
      </div>
      <FormError error={status.error} />
      <div className="buttons">
        {entry.kind !== 'failed' ? (
          <>
            {entry.kind === 'parked' && button('resume', 'Resume', () => commands.resume(entry), 'button-primary')}
            {button('again', 'Run again', () => commands.runAgain(entry))}
            {button('cancel', 'Cancel run', () => commands.cancel(entry), 'button-danger')}
          </>
        ) : (
          <>
            {button('again', 'Run again', () => commands.runAgain(entry), 'button-primary')}
            {button('dismiss', 'Dismiss', () => commands.dismiss(entry))}
          </>
        )}
      </div>
    </div>
  );
}

function causeOf(entry: RunInboxEntry): { readonly code: string; readonly message: string } {
  switch (entry.kind) {
    case 'failed':
      return entry.error;
    case 'parked':
      return { code: entry.parked.reason, message: entry.parked.message };
    case 'tools':
      return { code: 'missing-tools', message: explainAwaitedTools(entry.awaitedTools) };
  }
}
