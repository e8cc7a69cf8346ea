/** Minimongo (packages/minimongo) as the client of a subscription uses it: ordered, reactive queries over documents. */
import { compileQuery } from '../server/mongoQueries.cjs';
import { EJSON } from '../meteor/ejson';
import type { Doc, Fields } from '../server/MemoryCollection';
import { Tracker } from './tracker';

export interface ObserveCallbacks<T> {
  addedAt?(document: T, index: number, before: string | null): void;
  changedAt?(now: T, before: T, index: number): void;
  removedAt?(document: T, index: number): void;
  movedTo?(document: T, from: number, to: number, before: string | null): void;
  readonly _suppress_initial?: boolean;
}

interface LiveQuery {
  refresh(): void;
}

export class LocalCollection {
  readonly documents = new Map<string, Doc>();
  readonly queries = new Set<LiveQuery>();

  /** Applies a batch of the server's messages. Observers learn of the difference, not of each message. */
  apply(messages: readonly Fields[], isReset: boolean): void {
    if (isReset) this.documents.clear();
    for (const message of messages) this.applyMessage(message);
    for (const query of [...this.queries]) query.refresh();
  }

  select(selector: Fields, sort: Readonly<Record<string, 1 | -1>> | undefined): Doc[] {
    const cursor = compileQuery(selector).find<Doc>([...this.documents.values()]);
    if (sort !== undefined) cursor.sort(sort);
    return EJSON.clone(cursor.all());
  }

  private applyMessage({ msg, id, fields, cleared }: Fields): void {
    const _id = String(id);
    const known = this.documents.get(_id);
    if ((msg === 'added') === (known !== undefined))
      throw new Error(`Expected ${msg === 'added' ? 'not to find' : 'to find'} the document ${_id}: ${String(msg)}`);
    if (msg === 'removed') {
      this.documents.delete(_id);
      return;
    }
    const left = Object.entries({ ...known, ...(fields as Fields | undefined) }).filter(
      ([name]) => !((cleared as readonly string[] | undefined) ?? []).includes(name),
    );
    this.documents.set(_id, { ...Object.fromEntries(left), _id });
  }
}

export class LocalCursor<T> {
  private readonly collection: LocalCollection;
  private readonly selector: Fields;
  private readonly sort: Readonly<Record<string, 1 | -1>> | undefined;

  constructor(
    collection: LocalCollection,
    selector: Fields,
    options: { readonly sort?: Readonly<Record<string, 1 | -1>> } = {},
  ) {
    this.collection = collection;
    this.selector = selector;
    this.sort = options.sort;
  }

  /** In a computation, any change of the result invalidates it. */
  fetch(): T[] {
    if (Tracker.active) {
      const dependency = new Tracker.Dependency();
      dependency.depend();
      const changed = (): void => dependency.changed();
      this.observe({
        addedAt: changed,
        changedAt: changed,
        removedAt: changed,
        movedTo: changed,
        _suppress_initial: true,
      });
    }
    return this.current();
  }

  count(): number {
    return this.fetch().length;
  }

  /** In a computation, the observer stops when that is invalidated. */
  observe(callbacks: ObserveCallbacks<T>): { stop(): void } {
    let shown: T[] = [];
    const refresh = (): void => {
      const next = this.current();
      reportDifference(shown, next, callbacks);
      shown = next;
    };
    if (callbacks._suppress_initial === true) shown = this.current();
    else refresh();
    const query = { refresh };
    this.collection.queries.add(query);
    const stop = (): void => void this.collection.queries.delete(query);
    if (Tracker.active) Tracker.onInvalidate(stop);
    return { stop };
  }

  private current(): T[] {
    // The cast is at the stub's boundary: the collection's user declares the type of its documents.
    return this.collection.select(this.selector, this.sort) as unknown[] as T[];
  }
}

function reportDifference<T>(before: readonly T[], after: readonly T[], callbacks: ObserveCallbacks<T>): void {
  const idOf = (document: T | undefined): unknown => (document as Doc | undefined)?._id;
  const beforeId = (index: number): string | null => (idOf(after[index + 1]) as string | undefined) ?? null;
  const remaining = new Set(after.map(idOf));
  const shown = [...before];
  for (let index = shown.length - 1; index >= 0; index--) {
    const document = shown[index] as T;
    if (remaining.has(idOf(document))) continue;
    shown.splice(index, 1);
    callbacks.removedAt?.(document, index);
  }
  for (const [index, document] of after.entries()) {
    const from = shown.findIndex((one) => idOf(one) === idOf(document));
    if (from === -1) {
      shown.splice(index, 0, document);
      callbacks.addedAt?.(EJSON.clone(document), index, beforeId(index));
      continue;
    }
    const [old] = shown.splice(from, 1) as [T];
    shown.splice(index, 0, document);
    if (!EJSON.equals(old, document)) callbacks.changedAt?.(EJSON.clone(document), old, from);
    if (from !== index) callbacks.movedTo?.(EJSON.clone(document), from, index, beforeId(index));
  }
}
