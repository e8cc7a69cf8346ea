/** Renders a component again whenever the observable's value changes. */
import { useSyncExternalStore } from 'react';
import type { ReadonlyObservable } from '../data/Observable';

export function useObservable<T>(observable: ReadonlyObservable<T>): T {
  return useSyncExternalStore(observable.subscribe, observable.get, observable.get);
}
