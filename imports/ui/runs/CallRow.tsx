/** A tool call on the timeline: how long it waited, and for whom, and how long it executed. */
import { needsReview } from '../../business/ai/domain/entities/Tool';
import { formatDuration } from '../format/format';
import { CALL_STATE_STYLES } from '../format/stateStyles';
import { Icon } from '../components/Icon';
import { barPosition, labelPosition, percent } from './barPosition';
import type { CallBar, Timeline } from './buildTimeline';
import { SEGMENT_LABELS } from './callSegments';

export interface CallRowProps {
  readonly bar: CallBar;
  readonly timeline: Timeline;
  readonly onSelect: (callId: string) => void;
}

export function CallRow({ bar, timeline, onSelect }: CallRowProps) {
  const { call, segments } = bar;
  const style = CALL_STATE_STYLES[call.state];
  const last = segments.at(-1);
  // A call that needs review stopped at an unknown time.
  const elapsed =
    call.executionTime ??
    (call.startTime === undefined || needsReview(call) || last === undefined ? undefined : last.end - last.start);
  const waits = segments.filter(({ kind }) => kind !== 'executing' && kind !== 'queued');
  return (
    <li className="lane-row" data-call={call.callId} data-state={call.state}>
      <button type="button" className={`lane-call tone-${style.tone}`} onClick={() => onSelect(call.callId)}>
        <span className="lane-name">
          <Icon name={style.icon} />
          <bdi className="lane-tool">{call.name}</bdi>
          <span className="visually-hidden">
            , {call.blocking ? 'blocking' : 'non-blocking'}, {style.label}
            {waits.map((wait) => `, ${SEGMENT_LABELS[wait.kind]}: ${formatDuration(wait.end - wait.start)}`)}
          </span>
        </span>
        <span className="lane-track">
          {segments.map((segment) => {
            const isLast = segment === last;
            return (
              <span
                key={segment.kind}
                className={`bar bar-call segment-${segment.kind}${style.isLive && isLast ? ' is-live' : ''}`}
                style={barPosition(segment, timeline)}
                title={`${SEGMENT_LABELS[segment.kind]}: ${formatDuration(segment.end - segment.start)}`}
                data-segment={segment.kind}
              >
                {call.progress !== undefined && style.isLive && isLast && (
                  <span className="bar-progress" style={percent('--done', call.progress)} />
                )}
              </span>
            );
          })}
          <span className="bar-label numeric" style={labelPosition(bar, timeline)}>
            {elapsed === undefined ? style.label : formatDuration(elapsed)}
          </span>
        </span>
      </button>
    </li>
  );
}
