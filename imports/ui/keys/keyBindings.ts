/**
 * The keys of the page that is shown. Each page registers its own in one place, with `useKeys`; `?` lists them. Keys do
 * nothing while someone types in a field, and in a dialog only its own work.
 */
import { useEffect, useRef, useSyncExternalStore } from 'react';
import { targetOf, uiRoot } from '../shell/uiRoot';

export interface KeyBinding {
  /** A `KeyboardEvent.key`, such as `j`, `/` or `?`; `mod+k` is ⌘K on a Mac, and Ctrl+K elsewhere. */
  readonly key: string;
  /** What the list of keys shows, such as "Next run". */
  readonly label: string;
  readonly run: (event: KeyboardEvent) => void;
}

export interface KeyGroup {
  /** The heading in the list of keys, such as "Runs". */
  readonly name: string;
  readonly bindings: readonly KeyBinding[];
}

let groups: readonly { readonly current: KeyGroup }[] = [];
const listeners = new Set<() => void>();

/** Registers keys while the component is mounted. Of two bindings of a key, the one that was mounted last counts. */
export function useKeys(name: string, bindings: readonly KeyBinding[]): void {
  const latest = useRef<KeyGroup>({ name, bindings });
  latest.current = { name, bindings };
  useEffect(() => {
    setGroups([...groups, latest]);
    return () => setGroups(groups.filter((group) => group !== latest));
  }, []);
}

/** The groups of keys of everything that is mounted. */
export function useKeyGroups(): readonly KeyGroup[] {
  return useSyncExternalStore(
    subscribe,
    () => groups,
    () => groups,
  ).map(({ current }) => current);
}

/** Listens to the page's keys; mounted once, by the frame. */
export function useKeyDispatcher(): void {
  useEffect(() => {
    window.addEventListener('keydown', dispatch);
    return () => window.removeEventListener('keydown', dispatch);
  }, []);
}

function dispatch(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || event.altKey) return;
  const isModified = event.ctrlKey || event.metaKey;
  const key = isModified ? `mod+${event.key.toLowerCase()}` : event.key;
  const target = targetOf(event) ?? document.body;
  // The dashboard may be a part of an app's page.
  if (target !== document.body && target.closest('.bolide') === null) return;
  if (!isModified && target.closest(FIELDS) !== null) return;
  if (uiRoot().querySelector('.bolide dialog[open]') !== null) return;
  const binding = groups.toReversed().flatMap(({ current }) => current.bindings.filter((each) => each.key === key))[0];
  if (binding === undefined) return;
  event.preventDefault();
  binding.run(event);
}

const FIELDS =
  'input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]:not([contenteditable=false])';

function setGroups(next: typeof groups): void {
  groups = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
