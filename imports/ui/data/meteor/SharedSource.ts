/**
 * A reactive value that several Tracker computations share. It runs while a computation reads it, and stops after the
 * flush in which none reads it any more: a computation that reruns, and a component that is unmounted and mounted
 * again, continue with the running one.
 */
import type { MeteorSource } from './MeteorSource';

export abstract class SharedSource<T> {
  protected value: T | undefined;
  protected readonly source: MeteorSource;
  private readonly dependency: { depend(): boolean; changed(): void };
  private readonly key: string;
  private readers = 0;

  /**
   * The running source of this key, or a new one, which is shared from its first reading computation on.
   * @param key starts with the kind of the source
   */
  static of<S extends SharedSource<unknown>>(source: MeteorSource, key: string, create: () => S): S {
    return (runningSources(source).get(key) as S | undefined) ?? create();
  }

  constructor(source: MeteorSource, key: string) {
    this.source = source;
    this.dependency = new source.Tracker.Dependency();
    this.key = key;
  }

  /** The value in a computation, or else the value at this moment. */
  read(): T {
    const { Tracker } = this.source;
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
    runningSources(this.source).set(this.key, this);
    this.source.Tracker.nonreactive(() => this.start());
  }

  private release(): void {
    this.readers -= 1;
    if (this.readers > 0) return;
    runningSources(this.source).delete(this.key);
    this.stop();
    this.value = undefined;
  }
}

/** The sources that run, by key. */
function runningSources(source: MeteorSource): Map<string, SharedSource<unknown>> {
  const running = RUNNING.get(source) ?? new Map<string, SharedSource<unknown>>();
  RUNNING.set(source, running);
  return running;
}

const RUNNING = new WeakMap<MeteorSource, Map<string, SharedSource<unknown>>>();
