/**
 * A reactive value that several Tracker computations share. It runs while a computation reads it, and stops after the
 * flush in which none reads it any more: a computation that reruns, and a component that is unmounted and mounted
 * again, continue with the running one.
 */
import { Tracker } from 'meteor/tracker';

export abstract class SharedSource<T> {
  protected value: T | undefined;
  private readonly dependency = new Tracker.Dependency();
  private readonly key: string;
  private readers = 0;

  constructor(key: string) {
    this.key = key;
  }

  /** The value in a computation, or else the value at this moment. */
  read(): T {
    if (!Tracker.active) return this.value ?? this.peek();
    this.retain();
    Tracker.onInvalidate(() => Tracker.afterFlush(() => this.release()));
    this.dependency.depend();
    return this.value ?? this.peek();
  }

  protected abstract start(): void;
  protected abstract stop(): void;
  /** The value while the source is not running. */
  protected abstract peek(): T;

  protected set(value: T): void {
    this.value = value;
    this.dependency.changed();
  }

  private retain(): void {
    this.readers += 1;
    if (this.readers > 1) return;
    running.set(this.key, this);
    Tracker.nonreactive(() => this.start());
  }

  private release(): void {
    this.readers -= 1;
    if (this.readers > 0) return;
    running.delete(this.key);
    this.stop();
    this.value = undefined;
  }
}

const running = new Map<string, SharedSource<unknown>>();

/** The running source of this key, or a new one, which is shared from its first reading computation on. */
export function sharedSource<S extends SharedSource<unknown>>(key: string, create: (key: string) => S): S {
  // A key starts with the kind of its source.
  return (running.get(key) as S | undefined) ?? create(key);
}
