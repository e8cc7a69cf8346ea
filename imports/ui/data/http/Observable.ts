/** A value that tells its readers when it changes, as `useSyncExternalStore` wants it. */
import { useSyncExternalStore } from 'react';

export class Observable<T> {
  private value: T;
  private readonly listeners = new Set<() => void>();

  constructor(value: T) {
    this.value = value;
  }

  readonly get = (): T => this.value;

  set(value: T): void {
    if (Object.is(value, this.value)) return;
    this.value = value;
    for (const listener of this.listeners) listener();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
}

export interface Readable<T> {
  readonly get: () => T;
  readonly subscribe: (listener: () => void) => () => void;
}

export function useLiveValue<T>(value: Readable<T>): T {
  return useSyncExternalStore(value.subscribe, value.get);
}
