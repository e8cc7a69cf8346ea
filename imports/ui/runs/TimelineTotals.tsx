/** What the time of a run was spent on, as a legend of its timeline. */
import { formatDuration } from '../format/format';
import type { Timeline, TimelineTotals as Totals } from './buildTimeline';

export function TimelineTotals({ timeline: { start, end, totals, turns } }: { readonly timeline: Timeline }) {
  // Moments between activities say nothing.
  const isShown = (part: keyof Totals): boolean => totals[part] > (part === 'other' ? (end - start) / 50 : 0);
  return (
    <ul className="timeline-totals">
      {ENTRIES.filter(({ part }) => isShown(part)).map(({ part, label }) => (
        <li key={part} data-part={part}>
          <span className={`legend-mark mark-${part}`} />
          {label} <span className="numeric">{formatDuration(totals[part])}</span>
        </li>
      ))}
      {turns.some(({ isEstimated }) => isEstimated) && (
        <li className="muted">Dashed turns are estimated: their model calls are not in the request log.</li>
      )}
    </ul>
  );
}

const ENTRIES: readonly { readonly part: keyof Totals; readonly label: string }[] = [
  { part: 'model', label: 'Model' },
  { part: 'tools', label: 'Tools' },
  { part: 'waiting', label: 'Waiting for people and services' },
  { part: 'other', label: 'Idle' },
];
