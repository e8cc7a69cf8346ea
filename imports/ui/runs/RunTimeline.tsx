/** Turns and tool calls as bars on a time axis, with one lane each for turns, blocking and non-blocking calls. */
import type { CSSProperties, ReactNode } from 'react';
import { needsReview } from '../../business/ai/domain/entities/Tool';
import type { RunDetails } from '../data/DashboardData';
import { formatDuration } from '../format/format';
import { CALL_STATE_STYLES } from '../format/stateStyles';
import { Icon } from '../components/Icon';
import { useNow } from '../components/useNow';
import { isLive } from './isLive';
import { axisTicks } from './axisTicks';
import { buildTimeline } from './buildTimeline';
import type { Bar, CallBar, Timeline } from './buildTimeline';

export function RunTimeline({
  details,
  onSelect,
}: {
  readonly details: RunDetails;
  readonly onSelect: (callId: string) => void;
}) {
  const now = useNow(200, isLive(details.run.state));
  const timeline = buildTimeline(details, now);
  const { turns, blocking, nonBlocking } = timeline;
  return (
    <div className="timeline">
      <Axis timeline={timeline} />
      <Lane title="Model" hint={turns.length === 0 ? 'not called yet' : undefined}>
        <li className="lane-row lane-model">
          <span className="lane-name">Turns</span>
          <span className="lane-track">
            {turns.map((turn) => (
              <span
                key={turn.turn}
                className={turn.isLive ? 'bar bar-model is-live' : 'bar bar-model'}
                style={barPosition(turn, timeline)}
                title={`Turn ${turn.turn}: ${formatDuration(turn.end - turn.start)}`}
              >
                <span className="visually-hidden">
                  Turn {turn.turn}, {formatDuration(turn.end - turn.start)}
                </span>
                <span aria-hidden="true">{turn.turn}</span>
              </span>
            ))}
          </span>
        </li>
      </Lane>
      {blocking.length > 0 && (
        <Lane title="Blocking tools" hint="the model waits for their results">
          {blocking.map((bar) => (
            <CallRow key={bar.call.callId} bar={bar} timeline={timeline} onSelect={onSelect} />
          ))}
        </Lane>
      )}
      {nonBlocking.length > 0 && (
        <Lane title="Non-blocking tools" hint="the model continues, results follow">
          {nonBlocking.map((bar) => (
            <CallRow key={bar.call.callId} bar={bar} timeline={timeline} onSelect={onSelect} />
          ))}
        </Lane>
      )}
    </div>
  );
}

function Axis({ timeline }: { readonly timeline: Timeline }) {
  const span = timeline.end - timeline.start;
  return (
    <div className="axis" aria-hidden="true">
      <div className="axis-track">
        {axisTicks(timeline)
          // A tick near the end has no room for its label.
          .filter((tick) => tick / span < 0.88)
          .map((tick) => (
            <span key={tick} className="tick numeric" style={{ '--at': `${(100 * tick) / span}%` } as CSSProperties}>
              {formatDuration(tick)}
            </span>
          ))}
      </div>
    </div>
  );
}

function Lane({
  title,
  hint,
  children,
}: {
  readonly title: string;
  readonly hint: string | undefined;
  readonly children: ReactNode;
}) {
  return (
    <section className="lane" aria-label={title}>
      <h3>
        {title} {hint !== undefined && <span className="muted">· {hint}</span>}
      </h3>
      <ul>{children}</ul>
    </section>
  );
}

function CallRow({
  bar,
  timeline,
  onSelect,
}: {
  readonly bar: CallBar;
  readonly timeline: Timeline;
  readonly onSelect: (callId: string) => void;
}) {
  const { call } = bar;
  const style = CALL_STATE_STYLES[call.state];
  // A call that needs review stopped at an unknown time.
  const elapsed =
    call.executionTime ?? (call.startTime === undefined || needsReview(call) ? undefined : bar.end - bar.start);
  return (
    <li className="lane-row" data-call={call.callId} data-state={call.state}>
      <button type="button" className={`lane-call tone-${style.tone}`} onClick={() => onSelect(call.callId)}>
        <span className="lane-name">
          <Icon name={style.icon} />
          <span className="lane-tool">{call.name}</span>
          <span className="visually-hidden">
            , {call.blocking ? 'blocking' : 'non-blocking'}, {style.label}
          </span>
        </span>
        <span className="lane-track">
          <span className={style.isLive ? 'bar bar-call is-live' : 'bar bar-call'} style={barPosition(bar, timeline)}>
            {call.progress !== undefined && style.isLive && (
              <span
                className="bar-progress"
                style={{ '--done': `${Math.round(call.progress * 100)}%` } as CSSProperties}
              />
            )}
          </span>
          <span className="bar-label numeric" style={labelPosition(bar, timeline)}>
            {elapsed === undefined ? style.label : formatDuration(elapsed)}
          </span>
        </span>
      </button>
    </li>
  );
}

function barPosition(bar: Bar, timeline: Bar): CSSProperties {
  const span = timeline.end - timeline.start;
  // React's type does not include custom properties.
  return {
    '--from': `${(100 * (bar.start - timeline.start)) / span}%`,
    '--length': `${(100 * (bar.end - bar.start)) / span}%`,
  } as CSSProperties;
}

/** Beside the bar, on the side with enough room. */
function labelPosition(bar: Bar, timeline: Bar): CSSProperties {
  const span = timeline.end - timeline.start;
  const from = (bar.start - timeline.start) / span;
  const to = (bar.end - timeline.start) / span;
  if (to < 0.86) return { left: `calc(${100 * to}% + 6px)` };
  if (from > 0.14) return { right: `calc(${100 * (1 - from)}% + 6px)` };
  return { right: '6px' };
}
