/** The model calls of a run: who answered, how long it took, what it cost, and what failed before. */
import { memo, useState } from 'react';
import { formatCount, formatDuration } from '../format/format';
import { formatCost } from '../format/formatCost';
import { Icon } from '../components/Icon';
import { Elapsed } from '../components/Elapsed';
import { linkTo } from '../shell/route';
import { RequestBodies } from './RequestBodies';
import { RequestFacts } from './RequestFacts';
import type { TurnRecord } from './turnRecords';

export interface TurnListProps {
  readonly turns: readonly TurnRecord[];
  /** Why prompts were not read from the vendor's cache, by the id of their request. */
  readonly misses: ReadonlyMap<string, string>;
  /** Starts a new run from what came before the turn. Absent while the run is active. */
  readonly onFork?: ((turn: number) => void) | undefined;
}

export function TurnList({ turns, misses, onFork }: TurnListProps) {
  if (turns.length === 0) return <p className="muted">The model has not been called yet.</p>;
  return (
    <div className="calls">
      {turns.map((record) => (
        <TurnCard key={record.turn} record={record} misses={misses} onFork={onFork} />
      ))}
    </div>
  );
}

const TurnCard = memo(function TurnCard({
  record,
  misses,
  onFork,
}: {
  readonly record: TurnRecord;
  readonly misses: ReadonlyMap<string, string>;
  readonly onFork?: ((turn: number) => void) | undefined;
}) {
  const [isOpen, setOpen] = useState(false);
  const { turn, times, requests } = record;
  const last = requests.at(-1);
  const failures = requests.reduce((sum, { attempts }) => sum + attempts.length, 0);
  return (
    <details
      className="call turn"
      id={`turn-${turn}`}
      data-turn={turn}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>
        <Icon name="chevron" className="call-chevron" />
        <span className="call-title">
          <span className="call-name">
            Turn {turn}
            {last?.model !== undefined && <bdi className="mono turn-model"> {last.model}</bdi>}
          </span>
          {last !== undefined && (
            <span className="call-kind numeric">
              {formatCount(last.usage.input_tokens)} in, {formatCount(last.usage.output_tokens)} out ·{' '}
              {last.cost === undefined ? 'cost unknown' : formatCost(last)}
            </span>
          )}
          {requests.some(({ _id }) => misses.has(_id)) && <span className="badge tone-orange">Cache missed</span>}
        </span>
        {failures > 0 && (
          <span className="badge tone-orange">{failures === 1 ? '1 retry' : `${failures} retries`}</span>
        )}
        {last?.state === 'failed' && <span className="badge tone-red">Failed</span>}
        {times !== undefined && (
          <span className="call-time">
            <Elapsed start={times.start} end={times.end} />
            {times.firstToken !== undefined && (
              <span className="muted"> · first token {formatDuration(times.firstToken - times.start)}</span>
            )}
          </span>
        )}
      </summary>
      {isOpen && (
        <>
          {requests.length === 0 && (
            <p className="muted">
              The request log has no entry of this model call: it is in progress, or the log was off, or the entry has
              expired.
            </p>
          )}
          {requests.map((request, index) => (
            <section key={request._id} aria-label={`Model call ${index + 1} of turn ${turn}`}>
              {requests.length > 1 && (
                <h3>
                  Model call {index + 1} of {requests.length}
                  {index > 0 && ', repeated by another process'}
                </h3>
              )}
              <RequestFacts request={request} cacheMiss={misses.get(request._id)} />
              <p className="turn-buttons">
                <a href={linkTo(['requests', request._id])}>Open the request</a>
              </p>
              <RequestBodies request={request} />
            </section>
          ))}
          {onFork !== undefined && (
            <p className="buttons turn-buttons">
              <button type="button" className="button" onClick={() => onFork(turn)}>
                Fork from turn {turn}…
              </button>
            </p>
          )}
        </>
      )}
    </details>
  );
});
