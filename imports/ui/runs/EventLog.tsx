/** The events of a run, oldest first: searched, filtered by kind, and opened to their JSON. */
import { useDeferredValue, useMemo, useRef, useState } from 'react';
import { useVirtualizer } from '@tanstack/react-virtual';
import type { RequestView } from '../../business/ai/domain/types/RequestRecords';
import type { LogEntry, RunDetails } from '../data/DashboardData';
import { pluralize } from '../format/format';
import { buildEventLog } from './buildEventLog';
import { EVENT_KINDS, filterEvents, kindOf } from './filterEvents';
import type { EventKind } from './filterEvents';
import { EventRow } from './EventRow';

export interface EventLogProps {
  readonly details: RunDetails;
  readonly requests: readonly RequestView[];
}

export function EventLog({ details, requests }: EventLogProps) {
  const { run, calls, log } = details;
  const entries = useMemo(() => buildEventLog({ run, calls, received: log, requests }), [run, calls, log, requests]);
  const [query, setQuery] = useState('');
  const [kind, setKind] = useState<EventKind>();
  const searched = useDeferredValue(query);
  const shown = useMemo(() => filterEvents(entries, kind, searched), [entries, kind, searched]);
  const isDerived = entries.some(({ seq }) => seq === undefined);
  return (
    <>
      <div className="event-tools">
        <input
          type="search"
          value={query}
          onChange={(event) => setQuery(event.target.value)}
          placeholder="Search events"
          aria-label="Search events"
        />
        <div className="chips" role="group" aria-label="Kind of event">
          {EVENT_KINDS.map(({ kind: each, label }) => {
            const amount = entries.filter((entry) => kindOf(entry) === each).length;
            if (amount === 0) return null;
            return (
              <button
                key={each}
                type="button"
                className="chip"
                aria-pressed={kind === each}
                onClick={() => setKind(kind === each ? undefined : each)}
              >
                {label} <span className="chip-amount numeric">{amount}</span>
              </button>
            );
          })}
        </div>
      </div>
      <EventList entries={shown} />
      <p className="muted event-note" role="status">
        {shown.length === entries.length
          ? pluralize(entries.length, 'event')
          : `${shown.length} of ${pluralize(entries.length, 'event')}`}
        {isDerived &&
          '. Events from before this page was opened are derived from stored records; they have no sequence number.'}
      </p>
    </>
  );
}

function EventList({ entries }: { readonly entries: readonly LogEntry[] }) {
  const [opened, setOpened] = useState<ReadonlySet<string>>(NONE);
  const box = useRef<HTMLOListElement>(null);
  const isVirtual = entries.length > MAX_RENDERED_ROWS;
  const virtual = useVirtualizer({
    count: isVirtual ? entries.length : 0,
    getScrollElement: () => box.current,
    estimateSize: () => 30,
    overscan: 10,
    getItemKey: (index) => idOf(entries[index], index),
  });
  if (entries.length === 0) return <p className="muted">No events match.</p>;
  const toggle = (id: string): void => {
    const next = new Set(opened);
    if (!next.delete(id)) next.add(id);
    setOpened(next);
  };
  const items = isVirtual ? virtual.getVirtualItems() : entries.map((_entry, index) => ({ index, start: undefined }));
  return (
    <ol ref={box} className={isVirtual ? 'events is-virtual' : 'events'} tabIndex={0} aria-label="Events, oldest first">
      {isVirtual && <li className="events-height" role="presentation" style={{ height: virtual.getTotalSize() }} />}
      {items.map(({ index, start }) => {
        const entry = entries[index];
        if (entry === undefined) return null;
        const id = idOf(entry, index);
        return (
          <EventRow
            key={id}
            entry={entry}
            index={index}
            top={start}
            measure={isVirtual ? virtual.measureElement : undefined}
            isOpen={opened.has(id)}
            onToggle={() => toggle(id)}
          />
        );
      })}
    </ol>
  );
}

const MAX_RENDERED_ROWS = 150;
const NONE: ReadonlySet<string> = new Set();

function idOf(entry: LogEntry | undefined, index: number): string {
  if (entry?.seq !== undefined) return String(entry.seq);
  return `${entry?.type ?? ''} ${entry?.callId ?? entry?.turn ?? ''} ${index}`;
}
