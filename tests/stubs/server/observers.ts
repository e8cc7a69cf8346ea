/**
 * Live queries. As on a real server, an observer is notified of a change some time after the write, and of several
 * quick changes possibly only once: the query runs again, and the difference is reported.
 */
import { EJSON } from '../meteor/ejson';
import type { Doc, Fields, FindSpec, MemoryCollection } from './MemoryCollection';

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
const due = new Set<() => void>();
let isScheduled = false;

/** Notifies observers immediately of all pending changes. */
export function flushObservers(): void {
  const waiting = [...due];
  due.clear();
  for (const report of waiting) report();
}

/** Reports the existing documents, then every difference from what was reported before. */
export function observeChanges(
  collection: MemoryCollection,
  selector: Fields,
  spec: FindSpec,
  callbacks: ChangeCallbacks,
): ObserveHandle {
  let reported = new Map<string, Doc>();
  let isStopped = false;
  const report = (): void => {
    if (isStopped) return;
    const before = reported;
    reported = new Map(collection.select(selector, spec).map((document) => [document._id, document]));
    for (const [id, document] of reported) {
      const old = before.get(id);
      if (old === undefined) callbacks.added?.(id, EJSON.clone(withoutId(document)));
      else {
        const difference = changedFields(old, document);
        if (Object.keys(difference).length > 0) callbacks.changed?.(id, EJSON.clone(difference));
      }
    }
    for (const id of before.keys()) if (!reported.has(id)) callbacks.removed?.(id);
  };
  report();
  const unwatch = collection.watch(() => {
    due.add(report);
    if (isScheduled) return;
    isScheduled = true;
    later(() => {
      isScheduled = false;
      flushObservers();
    });
  });
  return {
    stop() {
      isStopped = true;
      unwatch();
    },
  };
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
