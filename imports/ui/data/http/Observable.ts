/** A value that notifies its subscribers when it changes, in the shape that `useSyncExternalStore` expects. */
export class Observable<T> implements ReadonlyObservable<T> {
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

export interface ReadonlyObservable<T> {
  readonly get: () => T;
  readonly subscribe: (listener: () => void) => () => void;
}
