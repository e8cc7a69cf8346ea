/** Every tool call as a card that expands to its arguments and result. */
import { memo } from 'react';
import type { CSSProperties } from 'react';
import { needsReview } from '../../business/ai/domain/entities/Tool';
import type { ToolCallView } from '../../business/ai/domain/types/RunViews';
import { CALL_STATE_STYLES } from '../format/stateStyles';
import { CodeBlock } from '../components/CodeBlock';
import { Elapsed } from '../components/Elapsed';
import { Icon } from '../components/Icon';
import { StateBadge } from '../components/StateBadge';

export function CallCards({ calls }: { readonly calls: readonly ToolCallView[] }) {
  if (calls.length === 0) return <p className="muted">No tool calls yet.</p>;
  return (
    <div className="calls">
      {calls.map((call) => (
        <CallCard key={call.callId} call={call} />
      ))}
    </div>
  );
}

export const CallCard = memo(function CallCard({ call }: { readonly call: ToolCallView }) {
  const style = CALL_STATE_STYLES[call.state];
  return (
    <details
      className="call"
      id={`call-${call.callId}`}
      data-call={call.callId}
      data-name={call.name}
      data-state={call.state}
    >
      <summary>
        <Icon name="chevron" className="call-chevron" />
        <span className="call-title">
          <span className="call-name mono">{call.name}</span>
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
      {call.progress !== undefined && (
        <div className="call-progress">
          <progress
            max={1}
            value={call.progress}
            aria-label={`Progress of ${call.name}`}
            style={{ '--done': `${Math.round(call.progress * 100)}%` } as CSSProperties}
          />
          {call.note !== undefined && <span className="muted">{call.note}</span>}
        </div>
      )}
      <h3>Arguments</h3>
      <CodeBlock text={call.arguments === '' ? '{}' : call.arguments} label={`arguments of ${call.name}`} />
      {call.result !== undefined && (
        <>
          <h3>Result</h3>
          <CodeBlock text={call.result} label={`result of ${call.name}`} />
        </>
      )}
      {call.error !== undefined && (
        <>
          <h3>Error</h3>
          <p className="call-error">{call.error}</p>
        </>
      )}
      <p className="call-id muted mono">{call.callId}</p>
    </details>
  );
});
