/** Reactive Meteor data as an observable value. The computation runs while it has subscribers. */
import type { ReadonlyObservable } from '../Observable';
import type { BrowserTracker } from './BrowserPackages';

export class TrackedObservable<T extends object> implements ReadonlyObservable<T> {
  private readonly Tracker: BrowserTracker;
  private readonly read: () => T;
  private readonly listeners = new Set<() => void>();
  private computation: { stop(): void } | undefined;
  private value: T | undefined;
  private isStale = true;

  /**
   * @param Tracker of the app
   * @param read returns an object whose fields are compared with the last ones: subscribers are notified when one is
   *   another value
   */
  constructor(Tracker: BrowserTracker, read: () => T) {
    this.Tracker = Tracker;
    this.read = read;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    // Subscribers may themselves run in a computation.
    const { Tracker } = this;
    this.computation ??= Tracker.nonreactive(() =>
      Tracker.autorun(() => {
        if (this.update()) Tracker.nonreactive(() => this.listeners.forEach((each) => each()));
      }),
    );
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size > 0) return;
      this.computation?.stop();
      this.computation = undefined;
      this.isStale = true;
    };
  };

  /** Reading does not subscribe: without subscribers, the value is the one at the first reading. */
  readonly get = (): T => {
    if (this.isStale) this.Tracker.nonreactive(() => this.update());
    return this.value as T;
  };

  /** @returns whether the value is another one */
  private update(): boolean {
    const next = this.read();
    this.isStale = false;
    if (this.value !== undefined && hasEqualFields(this.value, next)) return false;
    this.value = next;
    return true;
  }
}

function hasEqualFields<T extends object>(before: T, after: T): boolean {
  const names = Object.keys(after) as (keyof T)[];
  return names.length === Object.keys(before).length && names.every((name) => Object.is(before[name], after[name]));
}
