/**
 * The keys of the inbox. They act on the entry that has the focus and on no other: when it disappears, the focus does
 * not move by itself, so that nobody decides about an entry that they have not seen.
 */
import { useRef } from 'react';
import type { RefObject } from 'react';
import { useKeys } from '../keys/keyBindings';
import { uiRoot } from '../shell/uiRoot';

export interface InboxKeys<T extends HTMLElement> {
  /** The `ref` of the list. */
  readonly list: RefObject<T | null>;
  /** Moves the focus from the entry that has it to the next one, or to the one before the last. */
  readonly focusNext: (entryId: string) => void;
  readonly focusEntry: (entryId: string) => boolean;
}

export function useInboxKeys<T extends HTMLElement>(): InboxKeys<T> {
  const list = useRef<T>(null);
  /** The place of the focus, for when its entry has disappeared. */
  const last = useRef(-1);
  const entries = (): readonly HTMLElement[] => [
    ...(list.current?.querySelectorAll<HTMLElement>('[data-entry]') ?? []),
  ];
  const focused = (): HTMLElement | undefined => entries().find((entry) => entry.contains(uiRoot().activeElement));
  const focus = (index: number): void => {
    const entry = entries()[index];
    if (entry === undefined) return;
    last.current = index;
    entry.querySelector<HTMLElement>('[data-row]')?.focus({ preventScroll: true });
    entry.scrollIntoView({ block: 'nearest' });
  };
  const move = (step: 1 | -1): void => {
    const current = focused();
    const all = entries();
    if (current !== undefined) focus(all.indexOf(current) + step);
    // The entry at the place of the one that disappeared is the next. Others may have disappeared, too.
    else focus(Math.max(0, Math.min(step === 1 ? last.current : last.current - 1, all.length - 1)));
  };
  const press = (action: string) => (event: KeyboardEvent) => {
    // A key that is held down must not decide about one entry after the other.
    if (!event.repeat) focused()?.querySelector<HTMLElement>(action)?.click();
  };
  useKeys('Inbox', [
    { key: 'j', label: 'Next entry', run: () => move(1) },
    { key: 'k', label: 'Previous entry', run: () => move(-1) },
    { key: 'a', label: 'Approve', run: press('[data-action="approve"]:not(:disabled)') },
    { key: 'r', label: 'Reject', run: press('[data-action="reject"]:not(:disabled)') },
    { key: 'd', label: 'Dismiss a failed run', run: press('[data-action="dismiss"]:not(:disabled)') },
    { key: 'e', label: 'Show all of the arguments', run: press('.call-arguments-cut button, .folded-buttons button') },
  ]);
  return {
    list,
    focusNext(entryId) {
      const all = entries();
      const index = all.findIndex((entry) => entry.dataset['entry'] === entryId);
      if (index === -1) return;
      focus(index + 1 < all.length ? index + 1 : index - 1);
      // The entry is about to disappear, and those behind it move up.
      last.current = index;
    },
    focusEntry(entryId) {
      const index = entries().findIndex((entry) => entry.dataset['entry'] === entryId);
      focus(index);
      return index !== -1;
    },
  };
}
