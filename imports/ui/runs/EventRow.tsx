/** One event of a run, which opens to its JSON. */
import type { CSSProperties } from 'react';
import type { LogEntry } from '../data/DashboardData';
import { formatClockTime, formatDateTime } from '../format/format';
import { cutText, wellFormed } from '../format/text';
import { JsonTree } from '../components/JsonTree';

export interface EventRowProps {
  readonly entry: LogEntry;
  readonly index: number;
  /** Pixels; undefined where rows follow each other in the normal flow. */
  readonly top: number | undefined;
  readonly measure: ((element: Element | null) => void) | undefined;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

export function EventRow({ entry, index, top, measure, isOpen, onToggle }: EventRowProps) {
  const { seq, at, type, name, detail, data } = entry;
  const text = [name, detail].filter((part) => part !== undefined && part !== '').join(' · ');
  const placed: CSSProperties | undefined = top === undefined ? undefined : { transform: `translateY(${top}px)` };
  return (
    <li ref={measure} data-index={index} data-event={type} data-derived={seq === undefined} style={placed}>
      <button type="button" className="event-row" aria-expanded={isOpen} onClick={onToggle}>
        <time className="numeric" dateTime={new Date(at).toISOString()} title={formatDateTime(at)}>
          {formatClockTime(at)}
        </time>
        <span className={`event-type event-${type.split(':')[0]}`}>{type}</span>
        <bdi className="event-detail">{wellFormed(cutText(text, 300))}</bdi>
      </button>
      {isOpen && (
        <JsonTree
          text={JSON.stringify(data ?? { ...entry, data: undefined })}
          label={`the event ${seq === undefined ? type : `${seq}, ${type}`}`}
        />
      )}
    </li>
  );
}
