/** Turns and tool calls as bars by time: blocking and non-blocking apart, colour and icon by state. */
import type { CSSProperties, ReactNode } from 'react';
import type { WatchedRun } from '../data/DashboardData';
import { duration } from '../format/format';
import { CALL_STATE_STYLES } from '../format/stateStyles';
import { Icon } from '../components/Icon';
import { useNow } from '../components/useNow';
import { isLive } from './filterRuns';
import { ticksOf, buildTimeline } from './buildTimeline';
import type { Bar, CallBar, Timeline } from './buildTimeline';

export function RunTimeline({
  watched,
  onChoose,
}: {
  readonly watched: WatchedRun;
  readonly onChoose: (callId: string) => void;
}) {
  const now = useNow(200, isLive(watched.run.state));
  const timeline = buildTimeline(watched, now);
  const { turns, blocking, background } = timeline;
  return (
    <div className="timeline">
      <Axis timeline={timeline} />
      <Lane title="Model" hint={turns.length === 0 ? 'not asked yet' : undefined}>
        <li className="lane-row lane-model">
          <span className="lane-name">Turns</span>
          <span className="lane-track">
            {turns.map((turn) => (
              <span
                key={turn.turn}
                className={turn.isLive ? 'bar bar-model is-live' : 'bar bar-model'}
                style={placeOf(turn, timeline)}
                title={`Turn ${turn.turn}: ${duration(turn.end - turn.start)}`}
              >
                <span className="visually-hidden">
                  Turn {turn.turn}, {duration(turn.end - turn.start)}
                </span>
                <span aria-hidden="true">{turn.turn}</span>
              </span>
            ))}
          </span>
        </li>
      </Lane>
      {blocking.length > 0 && (
        <Lane title="Blocking tools" hint="the model waits for them">
          {blocking.map((bar) => (
            <CallRow key={bar.call.callId} bar={bar} timeline={timeline} onChoose={onChoose} />
          ))}
        </Lane>
      )}
      {background.length > 0 && (
        <Lane title="Non-blocking tools" hint="the model goes on, results follow">
          {background.map((bar) => (
            <CallRow key={bar.call.callId} bar={bar} timeline={timeline} onChoose={onChoose} />
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
        {ticksOf(timeline)
          // One at the very end has no room for its words.
          .filter((tick) => tick / span < 0.88)
          .map((tick) => (
            <span key={tick} className="tick numeric" style={{ '--at': `${(100 * tick) / span}%` } as CSSProperties}>
              {duration(tick)}
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
  onChoose,
}: {
  readonly bar: CallBar;
  readonly timeline: Timeline;
  readonly onChoose: (callId: string) => void;
}) {
  const { call } = bar;
  const face = CALL_STATE_STYLES[call.state];
  // When it stopped that needs a review, nobody knows.
  const took =
    call.executionTime ??
    (call.startTime === undefined || call.state === 'needs_review' ? undefined : bar.end - bar.start);
  return (
    <li className="lane-row" data-call={call.callId} data-state={call.state}>
      <button type="button" className={`lane-call tone-${face.tone}`} onClick={() => onChoose(call.callId)}>
        <span className="lane-name">
          <Icon name={face.icon} />
          <span className="lane-tool">{call.name}</span>
          <span className="visually-hidden">
            , {call.blocking ? 'blocking' : 'non-blocking'}, {face.label}
          </span>
        </span>
        <span className="lane-track">
          <span className={face.isLive ? 'bar bar-call is-live' : 'bar bar-call'} style={placeOf(bar, timeline)}>
            {call.progress !== undefined && face.isLive && (
              <span
                className="bar-progress"
                style={{ '--done': `${Math.round(call.progress * 100)}%` } as CSSProperties}
              />
            )}
          </span>
          <span className="bar-label numeric" style={labelPlace(bar, timeline)}>
            {took === undefined ? face.label : duration(took)}
          </span>
        </span>
      </button>
    </li>
  );
}

function placeOf(bar: Bar, timeline: Bar): CSSProperties {
  const span = timeline.end - timeline.start;
  // Custom properties are no part of React's own type.
  return {
    '--from': `${(100 * (bar.start - timeline.start)) / span}%`,
    '--long': `${(100 * (bar.end - bar.start)) / span}%`,
  } as CSSProperties;
}

/** Beside the bar, on the side that has room. */
function labelPlace(bar: Bar, timeline: Bar): CSSProperties {
  const span = timeline.end - timeline.start;
  const from = (bar.start - timeline.start) / span;
  const to = (bar.end - timeline.start) / span;
  if (to < 0.86) return { left: `calc(${100 * to}% + 6px)` };
  if (from > 0.14) return { right: `calc(${100 * (1 - from)}% + 6px)` };
  return { right: '6px' };
}
