/** A cursor on the server, where only the async methods work. */
import { EJSON } from '../meteor/ejson';
import type { PublicationContext } from './contexts';
import type { Doc, Fields, FindSpec, MemoryCollection } from './MemoryCollection';
import { observeChanges } from './observers';
import type { ChangeCallbacks, ObserveHandle } from './observers';
import { registry } from './registry';

/** The part of a subscription that a cursor uses. */
type PublishedTo = Pick<PublicationContext, 'added' | 'changed' | 'removed' | 'onStop'>;

const ORDERED = ['addedBefore', 'movedBefore', 'addedAt', 'changedAt', 'removedAt', 'movedTo'];

export class Cursor<T> {
  private readonly collection: MemoryCollection;
  private readonly selector: Fields;
  private readonly spec: FindSpec;

  constructor(collection: MemoryCollection, selector: Fields, spec: FindSpec) {
    this.collection = collection;
    this.selector = selector;
    this.spec = spec;
  }

  get collectionName(): string {
    return this.collection.name;
  }

  async fetchAsync(): Promise<T[]> {
    await databaseAnswers();
    // The cast is at the stub's boundary: the collection's user declares the type of its documents.
    return this.collection.select(this.selector, this.spec) as unknown[] as T[];
  }

  async countAsync(): Promise<number> {
    return (await this.fetchAsync()).length;
  }

  async mapAsync<Result>(change: (document: T, index: number) => Result): Promise<Awaited<Result>[]> {
    const results: Awaited<Result>[] = [];
    for (const [index, document] of (await this.fetchAsync()).entries()) results.push(await change(document, index));
    return results;
  }

  async forEachAsync(visit: (document: T, index: number) => unknown): Promise<void> {
    await this.mapAsync(visit);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    yield* await this.fetchAsync();
  }

  /** Called by the DDP server with a subscription (packages/mongo/collection/collection.js). */
  async _publishCursor(subscription: PublishedTo): Promise<ObserveHandle> {
    const collection = this.collectionName;
    const handle = await this.observeChangesAsync({
      added: (id, fields) => subscription.added(collection, id, fields),
      changed: (id, fields) => subscription.changed(collection, id, fields),
      removed: (id) => subscription.removed(collection, id),
    });
    subscription.onStop(() => handle.stop());
    return handle;
  }

  async observeChangesAsync(callbacks: ChangeCallbacks): Promise<ObserveHandle> {
    refuseOrdered(callbacks);
    await databaseAnswers();
    return observeChanges(this.collection, this.selector, this.spec, callbacks);
  }

  async observeAsync(callbacks: {
    added?(document: T): void;
    changed?(now: T, before: T): void;
    removed?(document: T): void;
  }): Promise<ObserveHandle> {
    refuseOrdered(callbacks);
    await databaseAnswers();
    const documents = new Map<string, Doc>();
    // The same cast as in fetchAsync.
    const given = (document: Doc): T => EJSON.clone(document) as unknown as T;
    return observeChanges(this.collection, this.selector, this.spec, {
      added(id, fields) {
        const document = { _id: id, ...fields };
        documents.set(id, document);
        callbacks.added?.(given(document));
      },
      changed(id, fields) {
        const before = documents.get(id) ?? { _id: id };
        const now = Object.fromEntries(
          Object.entries({ ...before, ...fields }).filter(([, value]) => value !== undefined),
        ) as Doc;
        documents.set(id, now);
        callbacks.changed?.(given(now), given(before));
      },
      removed(id) {
        const document = documents.get(id) ?? { _id: id };
        documents.delete(id);
        callbacks.removed?.(given(document));
      },
    });
  }

  /** Not available on the server: in Meteor they throw, or return promises where documents are expected. */
  observe(_callbacks: {
    addedAt?(document: T, index: number, before: string | null): void;
    changedAt?(now: T, before: T, index: number): void;
    removedAt?(document: T, index: number): void;
    movedTo?(document: T, from: number, to: number, before: string | null): void;
  }): never {
    throw notOnServer('observe');
  }
  fetch(): never {
    throw notOnServer('fetch');
  }
  count(): never {
    throw notOnServer('count');
  }
  map(_change: unknown): never {
    throw notOnServer('map');
  }
  forEach(_visit: unknown): never {
    throw notOnServer('forEach');
  }
}

export function notOnServer(method: string): Error {
  return new Error(`${method}() is not available on the server. Please use ${method}Async() instead.`);
}

const later = setImmediate;
/** A database responds in a later turn of the event loop, never synchronously. */
export function databaseAnswers(): Promise<void> {
  const { outage } = registry;
  return new Promise((resolve, reject) => later(outage === undefined ? resolve : () => reject(outage)));
}

function refuseOrdered(callbacks: object): void {
  const ordered = ORDERED.find((name) => name in callbacks);
  if (ordered !== undefined) throw new Error(`This stub does not support ordered observers: ${ordered}`);
}
