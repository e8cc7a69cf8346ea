/**
 * Runs a publish function as a user, without a connection, and keeps what it publishes: the subscription that the
 * function sees as `this` (packages/ddp-server/livedata_server.js, `Subscription`).
 */
import { toPlain } from './toPlain';

type Fields = Readonly<Record<string, unknown>>;

export interface PublicationEvents {
  /** The documents are complete. Called once. */
  onReady(): void;
  /** A document has changed, before or after `onReady`. */
  onChange(): void;
  /** The function has ended the subscription, with an error or without one. Called once, and nothing after it. */
  onEnd(error: unknown): void;
  /** A callback of the function has thrown while the subscription ended. */
  onStopFailure(error: unknown): void;
}

/** A cursor, as a publish function returns it. */
interface PublishedCursor {
  _publishCursor(subscription: PublicationRun): Promise<unknown>;
}

export class PublicationRun {
  readonly userId: string | null;
  readonly connection = null;
  private readonly collections = new Map<string, Map<string, Map<string, unknown>>>();
  private readonly events: PublicationEvents;
  private readonly onStopped: (() => unknown)[] = [];
  private isReady = false;
  private isOver = false;

  constructor(userId: string | null, events: PublicationEvents) {
    this.userId = userId;
    this.events = events;
  }

  get size(): number {
    return [...this.collections.values()].reduce((sum, documents) => sum + documents.size, 0);
  }

  /** The documents as JSON, by collection, with their ids. */
  read(limit: number): Readonly<Record<string, readonly unknown[]>> {
    let left = limit;
    const collections = [...this.collections].map(([name, documents]) => {
      const taken = [...documents].slice(0, left);
      left -= taken.length;
      return [
        name,
        taken.map(([_id, fields]) => ({ _id, ...(toPlain(Object.fromEntries(fields)) as object) })),
      ] as const;
    });
    return Object.fromEntries(collections);
  }

  /** @param publish runs the function with this subscription. Never rejects: `onEnd` is told of errors */
  async run(publish: () => unknown): Promise<void> {
    try {
      const published: unknown = await publish();
      if (this.isOver || published === undefined || published === null || published === false) return;
      const cursors: readonly unknown[] = Array.isArray(published) ? published : [published];
      if (!cursors.every(isCursor)) throw new Error('Publish function can only return a Cursor or an array of Cursors');
      await Promise.all(cursors.map((cursor) => cursor._publishCursor(this)));
      this.ready();
    } catch (error) {
      this.error(error);
    }
  }

  added(collection: string, id: unknown, fields: Fields): void {
    if (this.isOver) return;
    const documents = this.collections.get(collection) ?? new Map<string, Map<string, unknown>>();
    this.collections.set(collection, documents);
    documents.set(idOf(id), withoutMissing(new Map(Object.entries(fields))));
    this.events.onChange();
  }

  changed(collection: string, id: unknown, fields: Fields): void {
    if (this.isOver) return;
    const document = this.collections.get(collection)?.get(idOf(id));
    if (document === undefined) throw new Error(`Could not find element with id ${idOf(id)} to change`);
    for (const [name, value] of Object.entries(fields)) document.set(name, value);
    withoutMissing(document);
    this.events.onChange();
  }

  removed(collection: string, id: unknown): void {
    if (this.isOver) return;
    if (this.collections.get(collection)?.delete(idOf(id)) !== true)
      throw new Error(`Removed nonexistent document ${idOf(id)}`);
    this.events.onChange();
  }

  ready(): void {
    if (this.isOver || this.isReady) return;
    this.isReady = true;
    this.events.onReady();
  }

  onStop(callback: () => unknown): void {
    this.onStopped.push(callback);
    if (this.isOver) void this.callBack();
  }

  stop(): void {
    this.end(undefined);
  }

  error(error: unknown): void {
    this.end(error);
  }

  /** Subscriptions of this kind hold up no others. */
  unblock(): void {
    return undefined;
  }

  /** Ends the subscription for whoever has started it. Resolves when the function has closed what it had opened. */
  close(): Promise<void> {
    this.isOver = true;
    return this.callBack();
  }

  private end(error: unknown): void {
    if (this.isOver) return;
    void this.close();
    this.events.onEnd(error);
  }

  /** Never rejects. */
  private async callBack(): Promise<void> {
    for (const callback of this.onStopped.splice(0)) {
      try {
        await callback();
      } catch (error) {
        this.events.onStopFailure(error);
      }
    }
  }
}

function isCursor(value: unknown): value is PublishedCursor {
  return typeof (value as Partial<PublishedCursor> | null | undefined)?._publishCursor === 'function';
}

/** Ids are texts or `Mongo.ObjectID`s. */
function idOf(id: unknown): string {
  return typeof id === 'string' ? id : String(toPlain(id));
}

/** A field with the value undefined is a field that the document has not, or no more. */
function withoutMissing(fields: Map<string, unknown>): Map<string, unknown> {
  for (const [name, value] of fields) if (value === undefined) fields.delete(name);
  fields.delete('_id');
  return fields;
}
