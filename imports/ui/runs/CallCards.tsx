/** Every tool call as a card that expands to its arguments and result. */
import { memo, useState } from 'react';
import type { ReactNode } from 'react';
import { needsReview } from '../../business/ai/domain/entities/Tool';
import type { CallOfRun } from '../../business/ai/domain/types/AgentEvents';
import type { ToolCallView } from '../../business/ai/domain/types/RunViews';
import { useData } from '../hooks/BolideProvider';
import { formatDateTime, formatDuration } from '../format/format';
import { showHidden } from '../format/hiddenCharacters';
import { CALL_STATE_STYLES } from '../format/stateStyles';
import { useUserName } from '../hooks/useUserNames';
import { CopyButton } from '../components/CopyButton';
import { Elapsed } from '../components/Elapsed';
import { FoldedText } from '../components/FoldedText';
import { Icon } from '../components/Icon';
import { JsonTree } from '../components/JsonTree';
import { StateBadge } from '../components/StateBadge';
import { CallAnswers } from './CallAnswers';
import { CallInput } from './CallInput';
import { percent } from './barPosition';

export type RenderRun = (call: CallOfRun) => ReactNode;

export interface CallCardsProps {
  readonly calls: readonly ToolCallView[];
  /** Renders the run that a call has started, if it has. */
  readonly renderRun?: RenderRun | undefined;
}

export function CallCards({ calls, renderRun }: CallCardsProps) {
  if (calls.length === 0) return <p className="muted">No tool calls yet.</p>;
  return (
    <div className="calls">
      {calls.map((call) => (
        <CallCard key={call.callId} call={call} renderRun={renderRun} />
      ))}
    </div>
  );
}

interface CallCardProps {
  readonly call: ToolCallView;
  readonly renderRun?: RenderRun | undefined;
}

export const CallCard = memo(function CallCard({ call, renderRun }: CallCardProps) {
  const [isOpen, setOpen] = useState(false);
  const style = CALL_STATE_STYLES[call.state];
  return (
    <details
      className="call"
      id={`call-${call.callId}`}
      data-call={call.callId}
      data-name={call.name}
      data-state={call.state}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>
        <Icon name="chevron" className="call-chevron" />
        <span className="call-title">
          <bdi className="call-name mono">{call.name}</bdi>
          <span className="call-kind">{call.blocking ? 'blocking' : 'non-blocking'}</span>
        </span>
        {/* A call that needs review stopped at an unknown time. */}
        {call.startTime !== undefined && !needsReview(call) && (
          <span className="call-time">
            <Elapsed start={call.startTime} end={call.endTime} />
          </span>
        )}
        <StateBadge style={style} />
      </summary>
      {isOpen && <CallBody call={call} renderRun={renderRun} />}
    </details>
  );
});

function CallBody({ call, renderRun }: CallCardProps) {
  const [wantsAll, setWantsAll] = useState(false);
  const { executionId, callId } = call;
  const full = useData().useQuery('ai.runs.getCall', wantsAll ? { executionId, callId } : undefined);
  const shown = full.state === 'ready' ? full.value : call;
  const isCut = Math.max(call.arguments.length, call.result?.length ?? 0) >= MAX_SHOWN_CHARACTERS;
  return (
    <>
      {call.progress !== undefined && (
        <div className="call-progress">
          <progress
            max={1}
            value={call.progress}
            aria-label={`Progress of ${call.name}`}
            style={percent('--done', call.progress)}
          />
          {call.note !== undefined && <bdi className="muted">{call.note}</bdi>}
        </div>
      )}
      <CallTimes call={call} />
      {call.answers !== undefined && <CallAnswers answers={call.answers} />}
      {call.input !== undefined && <CallInput input={call.input} />}
      <h3>Arguments</h3>
      <JsonTree text={shown.arguments === '' ? '{}' : shown.arguments} label={`arguments of ${call.name}`} />
      {renderRun?.({ executionId, callId })}
      {shown.result !== undefined && (
        <>
          <h3>Result</h3>
          <JsonTree text={shown.result} label={`result of ${call.name}`} />
        </>
      )}
      {isCut && full.state !== 'ready' && (
        <p className="cut-notice muted">
          Only the first 16 KB of a text are shown.{' '}
          <button type="button" className="link-button" onClick={() => setWantsAll(true)} disabled={wantsAll}>
            {wantsAll && full.state === 'loading' ? 'Loading…' : 'Show everything'}
          </button>
          {full.state === 'failed' && <span className="form-error"> {full.error.message}</span>}
        </p>
      )}
      {call.error !== undefined && (
        <>
          <h3>Error</h3>
          <FoldedText className="call-error" text={call.error} label={`the error of ${call.name}`} />
        </>
      )}
      <p className="call-id muted">
        <bdi className="mono">{call.callId}</bdi>{' '}
        <CopyButton text={call.callId} label="the call’s id" caption="Copy id" />
      </p>
    </>
  );
}

/** When it was requested, how long it waited for a person, and when it ran. */
function CallTimes({ call }: { readonly call: ToolCallView }) {
  const { createdAt, approvalRequestedAt, startTime, endTime, decidedBy } = call;
  const decider = useUserName(decidedBy?.userId ?? '');
  const decidedAt = startTime ?? endTime;
  const facts = [
    createdAt === undefined ? '' : `Requested ${formatDateTime(createdAt)}`,
    approvalRequestedAt === undefined || decidedAt === undefined
      ? ''
      : `waited ${formatDuration(decidedAt - approvalRequestedAt)} for a decision`,
    decidedBy === undefined
      ? ''
      : `decided by ${showHidden(decider ?? decidedBy.userId)}${decidedBy.tokenId === undefined ? '' : ' with an API token'} on ${formatDateTime(decidedBy.at)}`,
    endTime === undefined || startTime === undefined ? '' : `executed for ${formatDuration(endTime - startTime)}`,
  ].filter((fact) => fact !== '');
  return facts.length === 0 ? null : <p className="call-times muted">{facts.join(', ')}</p>;
}

/** The length to which the server cuts arguments and results in views. */
const MAX_SHOWN_CHARACTERS = 16 * 1024;
