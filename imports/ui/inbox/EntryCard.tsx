/** One entry: what is asked, of which run, since when, and the controls that decide about it. */
import { memo } from 'react';
import type { InboxEntry, InboxKind, WaitingCallEntry } from '../../business/ai/domain/types/InboxViews';
import { cutText, wellFormed } from '../format/text';
import { formatDateTime, formatDuration } from '../format/format';
import { RUN_STATE_STYLES, WAIT_STYLES } from '../format/stateStyles';
import { Ago, Elapsed } from '../components/Elapsed';
import { StateBadge } from '../components/StateBadge';
import { useNow } from '../components/useNow';
import { ApprovalControls } from '../runs/ApprovalControls';
import { CallArguments } from '../runs/CallArguments';
import { CallInput } from '../runs/CallInput';
import { OutcomeForm } from '../runs/OutcomeForm';
import { ReviewControls } from '../runs/ReviewControls';
import { useShownArguments } from '../runs/useShownArguments';
import { UserLink } from '../components/User';
import { linkTo } from '../shell/route';
import type { EntryCommands, EntryStatus } from './useDecisions';
import { entryKey, isCallEntry } from './entryKey';
import { RunEntry } from './RunEntry';

export interface EntryCardProps {
  readonly entry: InboxEntry;
  readonly status: EntryStatus;
  readonly commands: EntryCommands;
  /** Called when a decision was made, before it is carried out. @returns false if the decision must not count */
  readonly onDecide: () => boolean;
}

export const EntryCard = memo(function EntryCard({ entry, status, commands, onDecide }: EntryCardProps) {
  const style = entry.kind === 'failed' ? RUN_STATE_STYLES.failed : WAIT_STYLES[entry.kind];
  const title = entry.title === '' ? 'Untitled run' : entry.title;
  return (
    <li
      className={`inbox-entry tone-${style.tone}`}
      data-entry={entry._id}
      data-key={entryKey(entry)}
      data-kind={entry.kind}
      aria-busy={status.isBusy}
    >
      <div className="inbox-head">
        <StateBadge style={style} />
        <h2>
          <a href={linkTo(['runs', entry.executionId])} data-row>
            {isCallEntry(entry) && (
              <>
                <bdi className="mono inbox-tool">{wellFormed(cutText(entry.name, 100))}</bdi>
                <span aria-hidden="true"> · </span>
              </>
            )}
            <bdi>{wellFormed(title)}</bdi>
          </a>
        </h2>
      </div>
      <EntryFacts entry={entry} />
      {isCallEntry(entry) ? (
        <WaitingCall entry={entry} status={status} commands={commands} onDecide={onDecide} />
      ) : (
        <RunEntry entry={entry} status={status} commands={commands} onDecide={onDecide} />
      )}
    </li>
  );
});

const SINCE = {
  approval: 'Waiting for',
  review: 'Started',
  external: 'Waiting for',
  parked: 'Parked',
  tools: 'Waiting for',
  failed: 'Failed',
} as const satisfies Record<InboxKind, string>;

function EntryFacts({ entry }: { readonly entry: InboxEntry }) {
  const { userId, providerId, model, since } = entry;
  return (
    <p className="inbox-facts">
      <span>
        {SINCE[entry.kind]} {SINCE[entry.kind] === 'Waiting for' ? <Elapsed start={since} /> : <Ago at={since} />}
      </span>
      {isCallEntry(entry) && entry.expiresAt !== undefined && <Expiry at={entry.expiresAt} />}
      <span>
        User <UserLink userId={userId} />
      </span>
      {providerId !== '' && <bdi>{model === undefined ? providerId : `${providerId} / ${model}`}</bdi>}
      {isCallEntry(entry) && entry.note !== undefined && <bdi>{cutText(entry.note, 200)}</bdi>}
    </p>
  );
}

/** Less than an hour before the end of the wait, it is marked. */
function Expiry({ at }: { readonly at: number }) {
  const left = at - useNow(5_000);
  return (
    <span className={left < 3_600_000 ? 'inbox-urgent' : ''} title={formatDateTime(at)}>
      {left <= 0 ? 'expires now' : `expires in ${formatDuration(left)}`}
    </span>
  );
}

type WaitingCallProps = Omit<EntryCardProps, 'entry'> & { readonly entry: WaitingCallEntry };

function WaitingCall({ entry, status, commands, onDecide }: WaitingCallProps) {
  const { isComplete, showAll, notice, mayApprove } = useShownArguments(entry);
  const decide = (command: () => Promise<void>): void => {
    if (onDecide()) void command();
  };
  const controls = {
    isBusy: status.isBusy,
    error: status.error ?? notice,
    onReject: (reason: string) => decide(() => commands.reject(entry, reason)),
  };
  const approve = (): void => {
    if (mayApprove()) decide(() => commands.approve(entry));
  };
  return (
    <>
      {entry.input !== undefined && <CallInput input={entry.input} />}
      <CallArguments call={entry} label={`arguments of ${entry.name}`} isComplete={isComplete} onComplete={showAll} />
      {entry.kind === 'approval' && <ApprovalControls {...controls} onApprove={approve} />}
      {entry.kind === 'review' && (
        <>
          <p className="muted inbox-hint">
            The server stopped during this call, so it may or may not have taken effect. Check, then decide.
          </p>
          <ReviewControls
            {...controls}
            onRerun={approve}
            onSubmit={(outcome) => decide(() => commands.submit(entry, outcome))}
          />
        </>
      )}
      {entry.kind === 'external' && (
        <OutcomeForm
          isBusy={status.isBusy}
          error={status.error}
          onSubmit={(outcome) => decide(() => commands.submit(entry, outcome))}
        />
      )}
    </>
  );
}
