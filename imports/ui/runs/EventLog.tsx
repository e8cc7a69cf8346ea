/** What happened, in order: as told by events, and before the page was opened, by the records. */
import { useMemo } from 'react';
import type { WatchedRun } from '../data/DashboardData';
import { clockTime } from '../format/format';
import { eventLogEntries } from './eventLogEntries';

export function EventLog({ watched }: { readonly watched: WatchedRun }) {
  const { run, calls, log } = watched;
  const entries = useMemo(() => eventLogEntries(run, calls, log), [run, calls, log]);
  return (
    <ol className="events" tabIndex={0} aria-label="Events, oldest first">
      {entries.map(({ seq, at, type, callId, name, detail }) => (
        <li key={seq ?? `${type} ${callId ?? ''}`} data-event={type}>
          <time className="numeric" dateTime={new Date(at).toISOString()}>
            {clockTime(at)}
          </time>
          <span className={`event-type event-${type.split(':')[0]}`}>{type}</span>
          <span className="event-what">
            {[name, detail].filter((part) => part !== undefined && part !== '').join(' · ')}
          </span>
        </li>
      ))}
    </ol>
  );
}
