/** Turns and tool calls as bars on a time axis, with one lane each for turns, blocking and non-blocking calls. */
import type { ReactNode } from 'react';
import { formatDuration } from '../format/format';
import { useNow } from '../components/useNow';
import { isLive } from './isLive';
import { axisTicks } from './axisTicks';
import { barPosition, percent } from './barPosition';
import { buildTimeline } from './buildTimeline';
import type { Timeline, TimelineInput } from './buildTimeline';
import { CallRow } from './CallRow';
import { TimelineTotals } from './TimelineTotals';
import { TurnBars } from './TurnBars';

export interface RunTimelineProps extends TimelineInput {
  readonly onSelectCall: (callId: string) => void;
  readonly onSelectTurn: (turn: number) => void;
}

export function RunTimeline({ onSelectCall, onSelectTurn, ...input }: RunTimelineProps) {
  const now = useNow(200, isLive(input.run.state));
  const timeline = buildTimeline(input, now);
  const { turns, blocking, nonBlocking, waits } = timeline;
  return (
    <div className="timeline">
      <Axis timeline={timeline} />
      <Lane title="Model" hint={turns.length === 0 ? 'not called yet' : undefined}>
        <li className="lane-row lane-model">
          <span className="lane-name">Turns</span>
          <span className="lane-track">
            {waits.map((wait) => (
              <span
                key={wait.start}
                className={`bar bar-wait segment-${wait.kind}`}
                style={barPosition(wait, timeline)}
                data-wait={wait.kind}
              />
            ))}
            <TurnBars turns={turns} timeline={timeline} onSelect={onSelectTurn} />
          </span>
        </li>
      </Lane>
      {blocking.length > 0 && (
        <Lane title="Blocking tools" hint="the model waits for their results">
          {blocking.map((bar) => (
            <CallRow key={bar.call.callId} bar={bar} timeline={timeline} onSelect={onSelectCall} />
          ))}
        </Lane>
      )}
      {nonBlocking.length > 0 && (
        <Lane title="Non-blocking tools" hint="the model continues, results follow">
          {nonBlocking.map((bar) => (
            <CallRow key={bar.call.callId} bar={bar} timeline={timeline} onSelect={onSelectCall} />
          ))}
        </Lane>
      )}
      <TimelineTotals timeline={timeline} />
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
            <span key={tick} className="tick numeric" style={percent('--at', tick / span)}>
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
