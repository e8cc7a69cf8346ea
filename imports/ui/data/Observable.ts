/** A value that notifies its subscribers when it changes. */
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

/** In the shape that `useSyncExternalStore` expects. `get` returns the same object until the value changes. */
export interface ReadonlyObservable<T> {
  readonly get: () => T;
  readonly subscribe: (listener: () => void) => () => void;
}
