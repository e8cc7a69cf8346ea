/** Identifies one wait: a call that waits again, after it was run again, is another entry. */
import type { InboxEntry, WaitingCallEntry } from '../../business/ai/domain/types/InboxViews';

export function entryKey({ kind, _id, since }: Pick<InboxEntry, 'kind' | '_id' | 'since'>): string {
  return `${kind} ${since} ${_id}`;
}

/** For sentences about the entry. */
export function entryName(entry: InboxEntry): string {
  return isCallEntry(entry) ? entry.name : `the run “${entry.title === '' ? 'Untitled run' : entry.title}”`;
}

/** The entry is a call, not a run. */
export function isCallEntry(entry: InboxEntry): entry is WaitingCallEntry {
  return 'callId' in entry;
}
