/**
 * Notifies of new entries while the page is hidden. A notification names the tool and what it waits for; it holds
 * nothing of the arguments or of the conversation, since it appears on locked screens.
 */
import { useEffect, useRef } from 'react';
import type { InboxEntry, InboxKind, InboxPage } from '../../business/ai/domain/types/InboxViews';
import { cutText, wellFormed } from '../format/text';
import { goTo, linkTo } from '../shell/route';
import { isCallEntry } from './entryKey';
import { useNotificationChoice } from './notificationChoice';

const TEXTS = {
  approval: { one: 'waits for approval', many: 'calls wait for approval' },
  review: { one: 'waits for review', many: 'calls wait for review' },
  external: { one: 'waits for a result', many: 'calls wait for a result' },
  tools: { one: 'waits for a tool', many: 'runs wait for a tool' },
  parked: { one: 'was parked', many: 'runs were parked' },
  failed: { one: 'failed', many: 'failed runs' },
} as const satisfies Record<InboxKind, unknown>;

const KINDS = Object.keys(TEXTS) as InboxKind[];

/** @param page the newest entries and the counts */
export function useNotifications(page: InboxPage | undefined): void {
  const choice = useNotificationChoice();
  const before = useRef<InboxPage | undefined>(undefined);
  useEffect(() => {
    const previous = before.current;
    before.current = page;
    if (page === undefined || previous === undefined || choice !== 'on' || document.visibilityState === 'visible')
      return;
    for (const kind of KINDS) {
      const added = page.counts[kind] - previous.counts[kind];
      if (added > 0) notify(kind, added, newEntries(page, previous, kind));
    }
  }, [page, choice]);
}

function newEntries(page: InboxPage, previous: InboxPage, kind: InboxKind): readonly InboxEntry[] {
  const known = new Set(previous.entries.map((entry) => `${entry.kind} ${entry._id}`));
  return page.entries.filter((entry) => entry.kind === kind && !known.has(`${kind} ${entry._id}`));
}

function notify(kind: InboxKind, added: number, entries: readonly InboxEntry[]): void {
  const [entry] = entries;
  const texts = TEXTS[kind];
  const body =
    added > 1
      ? `${added} ${texts.many}.`
      : `${entry !== undefined && isCallEntry(entry) ? nameOf(entry.name) : 'A run'} ${texts.one}.`;
  const link = linkTo(
    ['inbox'],
    added === 1 && entry !== undefined ? { kind, search: entry.executionId, entry: entry._id } : { kind },
  );
  try {
    // A later notification of the kind replaces this one.
    const notification = new Notification('Bolide', { body, tag: `bolide-${kind}` });
    notification.onclick = () => {
      window.focus();
      goTo(link);
      notification.close();
    };
  } catch {
    // Android permits notifications from service workers only.
  }
}

function nameOf(name: string): string {
  return wellFormed(cutText(name, 64));
}
