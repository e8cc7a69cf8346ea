/** The `this` of a publish function. */
import { EJSON } from '../meteor/ejson';
import { audited } from './argumentAudit';
import { Cursor } from './Cursor';
import type { Connection, PublicationContext } from './contexts';
import type { Fields } from './MemoryCollection';
import type { MergeBox } from './MergeBox';
import { current } from './MethodInvocation';
import type { PublishHandler } from './registry';

/** The parts of the session that its subscriptions use. */
export interface SubscriptionHost {
  readonly userId: string | null;
  readonly connection: Connection;
  readonly view: MergeBox;
  send(message: Fields): void;
  endSubscription(id: string, error?: unknown): void;
}

export class Subscription implements PublicationContext {
  readonly id: string;
  readonly name: string;
  readonly userId: string | null;
  readonly connection: Connection;
  readonly unblock: () => void;
  private readonly session: SubscriptionHost;
  private readonly stopCallbacks: (() => void)[] = [];
  private readonly documents = new Map<string, Set<string>>();
  private isOver = false;
  private isReady = false;

  constructor(session: SubscriptionHost, id: string, name: string, unblock: () => void) {
    this.session = session;
    this.id = id;
    this.name = name;
    this.userId = session.userId;
    this.connection = session.connection;
    this.unblock = unblock;
  }

  async run(handler: PublishHandler, args: readonly unknown[]): Promise<void> {
    try {
      const params = EJSON.clone(args);
      // The cast is safe: the handler checks its own parameters.
      const published = audited(
        () => current.run(this, () => handler.apply(this, params as never[])),
        params,
        `publisher '${this.name}'`,
      );
      if (!this.isOver) await this.publish(await published);
    } catch (error) {
      this.error(error);
    }
  }

  added(collection: string, id: string, fields: object): void {
    if (this.isOver) return;
    const ids = this.documents.get(collection) ?? new Set<string>();
    this.documents.set(collection, ids.add(id));
    this.session.view.added(this.id, collection, id, EJSON.clone(fields) as Fields);
  }

  changed(collection: string, id: string, fields: object): void {
    if (this.isOver) return;
    if (this.documents.get(collection)?.has(id) !== true)
      throw new Error(`Could not find element with id ${id} to change`);
    this.session.view.changed(this.id, collection, id, EJSON.clone(fields) as Fields);
  }

  removed(collection: string, id: string): void {
    if (this.isOver) return;
    if (this.documents.get(collection)?.delete(id) !== true) throw new Error(`Removed nonexistent document ${id}`);
    this.session.view.removed(this.id, collection, id);
  }

  ready(): void {
    if (this.isOver || this.isReady) return;
    this.isReady = true;
    this.session.send({ msg: 'ready', subs: [this.id] });
  }

  onStop(callback: () => unknown): void {
    if (this.isOver) callback();
    else this.stopCallbacks.push(callback);
  }

  stop(): void {
    if (!this.isOver) this.session.endSubscription(this.id);
  }

  /** The client receives the error as it would receive a method's. */
  error(error: unknown): void {
    if (!this.isOver) this.session.endSubscription(this.id, error);
  }

  /** Called by the session. The subscription sends nothing from here on. */
  deactivate(removesDocuments: boolean): void {
    if (this.isOver) return;
    if (removesDocuments)
      for (const [collection, ids] of this.documents)
        for (const id of ids) this.session.view.removed(this.id, collection, id);
    this.isOver = true;
    for (const callback of this.stopCallbacks.splice(0)) callback();
  }

  private async publish(published: unknown): Promise<void> {
    if (published === undefined || published === null) return;
    const cursors: readonly unknown[] = Array.isArray(published) ? published : [published];
    if (!cursors.every((cursor): cursor is Cursor<unknown> => cursor instanceof Cursor)) {
      throw new Error('Publish function can only return a Cursor or an array of Cursors');
    }
    const names = cursors.map((cursor) => cursor.collectionName);
    if (new Set(names).size < names.length)
      throw new Error('Publish function returned multiple cursors for one collection');
    for (const cursor of cursors) await cursor._publishCursor(this);
    this.ready();
  }
}
