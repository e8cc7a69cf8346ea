/** The entries of a page of the inbox, with the keys and guards that apply to deciding about them. */
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import type { InboxEntry, InboxPage } from '../../business/ai/domain/types/InboxViews';
import { Skeleton } from '../components/Skeleton';
import { EntryCard } from './EntryCard';
import { entryKey } from './entryKey';
import { decidedElsewhere, useDecisions } from './useDecisions';
import { useInboxKeys } from './useInboxKeys';

export interface InboxListProps {
  readonly page: InboxPage;
  /** The id of an entry that takes the focus as soon as it is listed. */
  readonly focus: string | undefined;
  /** Shown in place of a page without entries. */
  readonly empty: ReactNode;
}

/** Milliseconds after entries have moved in which a click decides nothing: it may have been meant for another entry. */
const SETTLING_MS = 400;

export function InboxList({ page, focus, empty }: InboxListProps) {
  const [notice, setNotice] = useState('');
  const decisions = useDecisions(setNotice);
  const keys = useInboxKeys<HTMLOListElement>();
  const entries = page.entries.filter((entry) => !decisions.isSettled(entry));
  const shownKeys = entries.map(entryKey).join('\n');
  useVanished(page, decisions.isSettled, setNotice);
  const movedAt = useRef(-Infinity);
  const isFirst = useRef(true);
  useLayoutEffect(() => {
    if (!isFirst.current) movedAt.current = performance.now();
    isFirst.current = false;
  }, [shownKeys]);
  /** When the pointer was clicked, unless a key has been pressed since. It counts, not when a slow page handles it. */
  const clickedAt = useRef<number | undefined>(undefined);
  const hasFocused = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (focus === undefined || hasFocused.current === focus) return;
    if (keys.focusEntry(focus)) hasFocused.current = focus;
  });
  const latestKeys = useRef(keys);
  latestKeys.current = keys;
  const decide = useCallback((entryId: string): boolean => {
    if (clickedAt.current !== undefined && clickedAt.current - movedAt.current < SETTLING_MS) {
      setNotice('The list has just changed. Check the entry, then decide.');
      return false;
    }
    latestKeys.current.focusNext(entryId);
    return true;
  }, []);
  return (
    <>
      <p className="inbox-notice" role="status">
        {notice}
      </p>
      {entries.length === 0 ? (
        // The next entries are on their way.
        page.entries.length > 0 && page.next !== undefined ? (
          <Skeleton what="more entries" />
        ) : (
          empty
        )
      ) : (
        <ol
          ref={keys.list}
          className="inbox-list"
          aria-label="Entries"
          // Keyboards and scripts click with `detail` 0.
          onClickCapture={(event) => {
            clickedAt.current = event.detail > 0 ? event.timeStamp : undefined;
          }}
          onKeyDownCapture={() => {
            clickedAt.current = undefined;
          }}
        >
          {entries.map((entry) => (
            <Entry key={entryKey(entry)} entry={entry} decisions={decisions} decide={decide} />
          ))}
        </ol>
      )}
    </>
  );
}

function Entry({
  entry,
  decisions,
  decide,
}: {
  readonly entry: InboxEntry;
  readonly decisions: ReturnType<typeof useDecisions>;
  readonly decide: (entryId: string) => boolean;
}) {
  const { _id } = entry;
  const onDecide = useCallback(() => decide(_id), [decide, _id]);
  return (
    <EntryCard entry={entry} status={decisions.statusOf(entry)} commands={decisions.commands} onDecide={onDecide} />
  );
}

/** Reports entries of this page that were decided elsewhere. */
function useVanished(
  page: InboxPage,
  isSettled: (entry: InboxEntry) => boolean,
  announce: (notice: string) => void,
): void {
  const before = useRef(page.entries);
  useEffect(() => {
    const shown = new Set(page.entries.map(entryKey));
    const [start, last] = [page.entries[0], page.entries.at(-1)];
    const isBeyond = ({ createdAt }: InboxEntry): boolean => {
      if (page.next === undefined || start === undefined || last === undefined) return false;
      return start.createdAt > last.createdAt ? createdAt <= last.createdAt : createdAt >= last.createdAt;
    };
    const gone = before.current.filter((entry) => !shown.has(entryKey(entry)) && !isSettled(entry) && !isBeyond(entry));
    before.current = page.entries;
    const [first] = gone;
    if (first === undefined) return;
    announce(
      gone.length === 1
        ? decidedElsewhere(first)
        : `${gone.length} entries no longer wait: they were decided elsewhere.`,
    );
  }, [page, isSettled, announce]);
}
