/** The model calls of a run on the timeline: waiting for the first token, receiving, and attempts that failed. */
import { formatDuration } from '../format/format';
import { barPosition, percent } from './barPosition';
import type { Timeline, TurnBar } from './buildTimeline';

export interface TurnBarsProps {
  readonly turns: readonly TurnBar[];
  readonly timeline: Timeline;
  readonly onSelect: (turn: number) => void;
}

export function TurnBars({ turns, timeline, onSelect }: TurnBarsProps) {
  return turns.map((bar) => {
    const { turn, isLive, isEstimated, firstToken, failedAttempts } = bar;
    const span = Math.max(1, bar.end - bar.start);
    const description = describe(bar);
    return (
      <button
        key={turn}
        type="button"
        className={`bar bar-model${isLive ? ' is-live' : ''}${isEstimated ? ' is-estimated' : ''}`}
        style={barPosition(bar, timeline)}
        title={description}
        aria-label={description}
        data-turn={turn}
        onClick={() => onSelect(turn)}
      >
        {firstToken !== undefined && (
          <span className="bar-first-token" style={percent('--done', (firstToken - bar.start) / span)} />
        )}
        {failedAttempts.map((at, index) => (
          <span key={index} className="bar-failure" style={percent('--at', (at - bar.start) / span)} />
        ))}
        <span className="bar-turn" aria-hidden="true">
          {turn}
        </span>
      </button>
    );
  });
}

function describe({ turn, start, end, firstToken, failedAttempts, isEstimated }: TurnBar): string {
  return [
    `Turn ${turn}: ${formatDuration(end - start)}${isEstimated ? ' (estimated)' : ''}`,
    ...(firstToken === undefined ? [] : [`first token after ${formatDuration(firstToken - start)}`]),
    ...(failedAttempts.length === 0 ? [] : [`failed attempts: ${failedAttempts.length}`]),
  ].join(', ');
}
