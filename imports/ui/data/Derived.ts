/** A value that follows from others, to which it subscribes while it has subscribers itself. */
import type { ReadonlyObservable } from './Observable';

/** Returns the source's value, and makes the derived one depend on it. */
export type Read = <T>(source: ReadonlyObservable<T>) => T;

interface Evaluation<T> {
  readonly value: T;
  /** The values that it follows from, by source. */
  readonly sources: ReadonlyMap<ReadonlyObservable<unknown>, unknown>;
}

export class Derived<T> implements ReadonlyObservable<T> {
  private readonly compute: (read: Read) => T;
  private latest: Evaluation<T> | undefined;
  private readonly listeners = new Set<() => void>();
  private readonly subscriptions = new Map<ReadonlyObservable<unknown>, () => void>();
  private isFollowing = false;

  constructor(compute: (read: Read) => T) {
    this.compute = compute;
  }

  readonly get = (): T => this.evaluate().value;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    this.follow();
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size === 0) this.unsubscribe([...this.subscriptions.keys()]);
    };
  };

  private evaluate(): Evaluation<T> {
    if (this.latest === undefined || isOutdated(this.latest)) {
      const sources = new Map<ReadonlyObservable<unknown>, unknown>();
      const value = this.compute((source) => {
        const read = source.get();
        sources.set(source, read);
        return read;
      });
      this.latest = { value, sources };
    }
    return this.latest;
  }

  /** Subscribes to the sources of the current value, and to no others. */
  private follow(): void {
    this.isFollowing = true;
    let evaluation = this.evaluate();
    // Some sources have another value as soon as someone subscribes to them.
    for (let before: unknown; before !== evaluation; evaluation = this.evaluate()) {
      before = evaluation;
      for (const source of evaluation.sources.keys())
        if (!this.subscriptions.has(source)) this.subscriptions.set(source, source.subscribe(this.onChange));
    }
    const { sources } = evaluation;
    this.unsubscribe([...this.subscriptions.keys()].filter((source) => !sources.has(source)));
    this.isFollowing = false;
  }

  private unsubscribe(sources: readonly ReadonlyObservable<unknown>[]): void {
    for (const source of sources) {
      this.subscriptions.get(source)?.();
      this.subscriptions.delete(source);
    }
  }

  private readonly onChange = (): void => {
    if (this.isFollowing) return;
    const before = this.latest;
    this.follow();
    if (!Object.is(this.latest?.value, before?.value)) for (const listener of this.listeners) listener();
  };
}

function isOutdated({ sources }: Evaluation<unknown>): boolean {
  return [...sources].some(([source, value]) => !Object.is(source.get(), value));
}
