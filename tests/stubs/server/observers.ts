/**
 * Live queries. As on a real server, an observer is notified of a change some time after the write, and of several
 * quick changes possibly only once: the query runs again, and the difference is reported. Observations of the same
 * collection with the same selector and options share one observer, as they share a multiplexer in Meteor. Each is
 * notified for itself, and reports existing documents in no order of the query's: the last first.
 */
import { EJSON } from '../meteor/ejson';
import type { Change, Doc, Fields, FindSpec, MemoryCollection } from './MemoryCollection';
import { currentFence } from './WriteFence';

export interface ChangeCallbacks {
  added?(id: string, fields: Fields): void;
  changed?(id: string, fields: Fields): void;
  removed?(id: string): void;
}
export interface ObserveHandle {
  stop(): void;
}

/** Captured before a test can replace it with a fake clock's. */
const later = setImmediate;
const due = new Set<Observer>();
let isScheduled = false;
let isHeld: (observer: OpenObserver) => boolean = () => false;

/** Keeps some observers from noticing changes. @returns lets them notice */
export function holdObservers(which: (observer: OpenObserver) => boolean): () => void {
  isHeld = which;
  return () => {
    isHeld = () => false;
    flushObservers();
  };
}

/** Notifies observers immediately of all pending changes. */
export function flushObservers(): void {
  const waiting = [...due].filter((observer) => !isHeld(observer));
  for (const observer of waiting) due.delete(observer);
  for (const observer of waiting) observer.poll();
}

/** Reports the existing documents, then every difference from what was reported before. */
export function observeChanges(
  collection: MemoryCollection,
  selector: Fields,
  spec: FindSpec,
  callbacks: ChangeCallbacks,
): ObserveHandle {
  const observers = observersOf.get(collection) ?? new Map<string, Observer>();
  observersOf.set(collection, observers);
  // Like Meteor's, the key depends on the order of the fields.
  const key = EJSON.stringify({ selector, spec });
  const observer = observers.get(key) ?? new Observer(collection, selector, spec, () => observers.delete(key));
  observers.set(key, observer);
  return observer.add(callbacks);
}

/** What a server observes at present: one entry per observer, with the number of handles that share it. */
export function openObservers(collection: MemoryCollection): readonly OpenObserver[] {
  return [...(observersOf.get(collection)?.values() ?? [])];
}

export type OpenObserver = Pick<Observer, 'selector' | 'spec' | 'handles' | 'notifications'>;

const observersOf = new WeakMap<MemoryCollection, Map<string, Observer>>();

class Observer {
  readonly selector: Fields;
  readonly spec: FindSpec;
  /** Changes that the observer had to look at, whether or not they were in its documents. */
  notifications = 0;
  private readonly collection: MemoryCollection;
  private readonly callbacks = new Set<ChangeCallbacks>();
  private readonly stop: () => void;
  private reported = new Map<string, Doc>();
  /** Tell the fences whose writes invalidated the query that the result was sent. */
  private committed: (() => void)[] = [];

  constructor(collection: MemoryCollection, selector: Fields, spec: FindSpec, onStop: () => void) {
    this.collection = collection;
    this.selector = selector;
    this.spec = spec;
    const unwatch = collection.watch((change) => this.invalidate(change));
    this.stop = () => {
      unwatch();
      onStop();
    };
    this.poll();
  }

  get handles(): number {
    return this.callbacks.size;
  }

  add(callbacks: ChangeCallbacks): ObserveHandle {
    for (const [id, document] of [...this.reported].toReversed())
      callbacks.added?.(id, EJSON.clone(withoutId(document)));
    this.callbacks.add(callbacks);
    this.collection.watching += 1;
    return {
      stop: () => {
        if (!this.callbacks.delete(callbacks)) return;
        this.collection.watching -= 1;
        if (this.callbacks.size > 0) return;
        this.stop();
        this.commit();
      },
    };
  }

  poll(): void {
    const before = this.reported;
    this.reported = new Map(
      this.collection.select(this.selector, this.spec).map((document) => [document._id, document]),
    );
    for (const [id, document] of this.reported) {
      const old = before.get(id);
      if (old === undefined) this.report((to) => to.added?.(id, EJSON.clone(withoutId(document))));
      else {
        const difference = changedFields(old, document);
        if (Object.keys(difference).length > 0) this.report((to) => to.changed?.(id, EJSON.clone(difference)));
      }
    }
    for (const id of before.keys()) if (!this.reported.has(id)) this.report((to) => to.removed?.(id));
    this.commit();
  }

  /** Called in the context of the write. */
  private invalidate({ ids, isById }: Change): void {
    const { _id } = this.selector;
    if (isById && typeof _id === 'string' && !ids.includes(_id)) return;
    this.notifications += 1;
    const fence = currentFence.getStore();
    if (fence !== undefined) this.committed.push(fence.beginObserver());
    due.add(this);
    if (isScheduled) return;
    isScheduled = true;
    later(() => {
      isScheduled = false;
      flushObservers();
    });
  }

  private report(send: (callbacks: ChangeCallbacks) => void): void {
    for (const callbacks of [...this.callbacks]) send(callbacks);
  }

  private commit(): void {
    for (const committed of this.committed.splice(0)) committed();
  }
}

/** Removed fields are `undefined`. */
function changedFields(old: Doc, document: Doc): Fields {
  const names = new Set([...Object.keys(old), ...Object.keys(document)]);
  return Object.fromEntries(
    [...names].filter((name) => !EJSON.equals(old[name], document[name])).map((name) => [name, document[name]]),
  );
}

function withoutId({ _id, ...fields }: Doc): Fields {
  return fields;
}
