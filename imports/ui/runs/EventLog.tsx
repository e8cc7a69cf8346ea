/** The events of a run, oldest first. */
import { useMemo } from 'react';
import type { RunDetails } from '../data/DashboardData';
import { formatClockTime } from '../format/format';
import { buildEventLog } from './buildEventLog';

export function EventLog({ details }: { readonly details: RunDetails }) {
  const { run, calls, log } = details;
  const entries = useMemo(() => buildEventLog(run, calls, log), [run, calls, log]);
  return (
    <ol className="events" tabIndex={0} aria-label="Events, oldest first">
      {entries.map(({ seq, at, type, callId, name, detail }) => (
        <li key={seq ?? `${type} ${callId ?? ''}`} data-event={type}>
          <time className="numeric" dateTime={new Date(at).toISOString()}>
            {formatClockTime(at)}
          </time>
          <span className={`event-type event-${type.split(':')[0]}`}>{type}</span>
          <span className="event-detail">
            {[name, detail].filter((part) => part !== undefined && part !== '').join(' · ')}
          </span>
        </li>
      ))}
    </ol>
  );
}
