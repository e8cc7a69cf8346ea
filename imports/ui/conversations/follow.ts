/** Hands an observable value to a framework. */
import type { ReadonlyObservable } from '../data/Observable';

/**
 * Calls back with the value at once, and with each that follows. A page that is rendered on a server loads nothing.
 * @returns ends it
 */
export function follow<T>(observable: ReadonlyObservable<T>, onValue: (value: T) => void): () => void {
  const report = (): void => onValue(observable.get());
  const unsubscribe = typeof window === 'undefined' ? () => undefined : observable.subscribe(report);
  report();
  return unsubscribe;
}
