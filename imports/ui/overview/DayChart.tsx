/** Runs by day as stacked columns, and as a table for screen readers. */
import type { RunState } from '../../business/ai/domain/entities/Run';
import type { RunCountView } from '../../business/ai/domain/types/RunViews';
import { formatCount, pluralize } from '../format/format';
import { RUN_STATE_STYLES } from '../format/stateStyles';
import { shortDay } from './days';

const STACK = ['completed', 'failed', 'cancelled', 'running'] as const satisfies readonly RunState[];
type Layer = (typeof STACK)[number];
const LAYER_LABELS = {
  completed: RUN_STATE_STYLES.completed.label,
  failed: RUN_STATE_STYLES.failed.label,
  cancelled: RUN_STATE_STYLES.cancelled.label,
  running: 'Active',
} as const satisfies Record<Layer, string>;
const HEIGHT = 150;
const WIDTH = 40;

export function DayChart({
  counts,
  days,
}: {
  readonly counts: readonly RunCountView[];
  readonly days: readonly string[];
}) {
  const columns = days.map((day) => toColumn(day, counts));
  const maximum = niceMaximum(Math.max(0, ...columns.map((column) => column.total)));
  const total = columns.reduce((sum, column) => sum + column.total, 0);
  if (total === 0) return <p className="muted chart-empty">No runs in the last {days.length} days.</p>;
  return (
    <figure className="chart">
      <svg
        viewBox={`0 0 ${days.length * WIDTH + 34} ${HEIGHT + 30}`}
        role="img"
        aria-label={`${pluralize(total, 'run')} in the last ${days.length} days`}
      >
        {[0, 0.5, 1].map((part) => (
          <g key={part} className="grid">
            <line
              x1="34"
              x2={days.length * WIDTH + 34}
              y1={HEIGHT - part * (HEIGHT - 10)}
              y2={HEIGHT - part * (HEIGHT - 10)}
            />
            <text x="28" y={HEIGHT - part * (HEIGHT - 10) + 4} textAnchor="end">
              {formatCount(maximum * part)}
            </text>
          </g>
        ))}
        {columns.map((column, index) => (
          <Column
            key={column.day}
            column={column}
            x={34 + index * WIDTH}
            maximum={maximum}
            isLabelled={(days.length - 1 - index) % 3 === 0}
          />
        ))}
      </svg>
      <ul className="legend" aria-hidden="true">
        {STACK.map((state) => (
          <li key={state} className={`tone-${RUN_STATE_STYLES[state].tone}`}>
            <span className="legend-dot" /> {LAYER_LABELS[state]}
          </li>
        ))}
      </ul>
      <table className="visually-hidden">
        <caption>Runs by day</caption>
        <thead>
          <tr>
            <th scope="col">Day</th>
            {STACK.map((state) => (
              <th key={state} scope="col">
                {LAYER_LABELS[state]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {columns.map((column) => (
            <tr key={column.day}>
              <th scope="row">{shortDay(column.day)}</th>
              {STACK.map((state) => (
                <td key={state}>{column.layers[state]}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}

interface ColumnData {
  readonly day: string;
  readonly layers: Readonly<Record<Layer, number>>;
  readonly total: number;
}

function Column({
  column,
  x,
  maximum,
  isLabelled,
}: {
  readonly column: ColumnData;
  readonly x: number;
  readonly maximum: number;
  readonly isLabelled: boolean;
}) {
  let y = HEIGHT;
  return (
    <g>
      <title>{`${shortDay(column.day)}: ${pluralize(column.total, 'run')}`}</title>
      {STACK.map((state) => {
        const height = (column.layers[state] / maximum) * (HEIGHT - 10);
        if (height === 0) return null;
        y -= height;
        return (
          <rect
            key={state}
            className={`column tone-${RUN_STATE_STYLES[state].tone}`}
            x={x + 7}
            y={y}
            width={WIDTH - 14}
            height={Math.max(1, height - 1)}
            rx="3"
          />
        );
      })}
      {isLabelled && (
        <text className="axis-text" x={x + WIDTH / 2} y={HEIGHT + 20} textAnchor="middle">
          {shortDay(column.day)}
        </text>
      )}
    </g>
  );
}

function toColumn(day: string, counts: readonly RunCountView[]): ColumnData {
  const layers: Record<Layer, number> = { completed: 0, failed: 0, cancelled: 0, running: 0 };
  for (const row of counts) {
    if (row.day !== day) continue;
    // Every state that is not final counts as in flight.
    const layer = STACK.find((state) => state === row.state) ?? 'running';
    layers[layer] += Math.max(0, row.count);
  }
  return { day, layers, total: Object.values(layers).reduce((sum, amount) => sum + amount, 0) };
}

/** Rounds up to the next of 2, 4, 10, 20, 40, 100, …, so that half of it is an integer. */
function niceMaximum(value: number): number {
  for (let power = 1; ; power *= 10) for (const step of [2, 4, 10]) if (step * power >= value) return step * power;
}
