/**
 * Reads reactive Meteor data in a component. The computation runs while the component is mounted, and starts again when
 * React mounts it again, as StrictMode does to every component in development.
 */
import { useMemo, useSyncExternalStore } from 'react';
import type { BrowserTracker } from './BrowserPackages';

/**
 * @param Tracker of the app
 * @param read returns an object whose fields are compared with the last ones: the component is rendered again when one
 *   is another value
 * @param dependencies the values that `read` uses
 */
export function useTracked<T extends object>(
  Tracker: BrowserTracker,
  read: () => T,
  dependencies: readonly unknown[],
): T {
  const store = useMemo(() => new TrackedValue(Tracker, read), dependencies);
  return useSyncExternalStore(store.subscribe, store.get, store.get);
}

class TrackedValue<T extends object> {
  private readonly Tracker: BrowserTracker;
  private readonly read: () => T;
  private value: T | undefined;

  constructor(Tracker: BrowserTracker, read: () => T) {
    this.Tracker = Tracker;
    this.read = read;
  }

  readonly subscribe = (onChange: () => void): (() => void) => {
    // A component may be mounted by code that itself runs in a computation.
    const { Tracker } = this;
    const computation = Tracker.nonreactive(() =>
      Tracker.autorun(() => {
        const next = this.read();
        if (this.value !== undefined && hasEqualFields(this.value, next)) return;
        this.value = next;
        Tracker.nonreactive(onChange);
      }),
    );
    return () => computation.stop();
  };

  /** Rendering must not subscribe, so that until the component is mounted the value is only peeked at. */
  readonly get = (): T => (this.value ??= this.Tracker.nonreactive(this.read));
}

function hasEqualFields<T extends object>(before: T, after: T): boolean {
  const names = Object.keys(after) as (keyof T)[];
  return names.length === Object.keys(before).length && names.every((name) => Object.is(before[name], after[name]));
}
