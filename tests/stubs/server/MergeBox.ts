/**
 * The state of each document that a client has received: the fields that any of its subscriptions publishes, the oldest
 * subscription taking precedence.
 */
import { EJSON } from '../meteor/ejson';
import type { Fields } from './MemoryCollection';

type Send = (message: Fields) => void;

export class MergeBox {
  private readonly send: Send;
  private readonly documents = new Map<string, Map<string, Fields>>();

  constructor(send: Send) {
    this.send = send;
  }

  added(subscription: string, collection: string, id: string, fields: Fields): void {
    this.change(collection, id, (parts) =>
      parts.set(subscription, { ...parts.get(subscription), ...withoutId(fields) }),
    );
  }

  changed(subscription: string, collection: string, id: string, fields: Fields): void {
    this.change(collection, id, (parts) => {
      const next = { ...parts.get(subscription), ...withoutId(fields) };
      parts.set(subscription, Object.fromEntries(Object.entries(next).filter(([, value]) => value !== undefined)));
    });
  }

  removed(subscription: string, collection: string, id: string): void {
    this.change(collection, id, (parts) => parts.delete(subscription));
  }

  private change(collection: string, id: string, by: (parts: Map<string, Fields>) => unknown): void {
    const key = JSON.stringify([collection, id]);
    const parts = this.documents.get(key) ?? new Map<string, Fields>();
    const before = parts.size === 0 ? undefined : merged(parts);
    by(parts);
    const after = parts.size === 0 ? undefined : merged(parts);
    if (after === undefined) this.documents.delete(key);
    else this.documents.set(key, parts);
    if (before === undefined && after !== undefined) this.send({ msg: 'added', collection, id, fields: after });
    else if (before !== undefined && after === undefined) this.send({ msg: 'removed', collection, id });
    else if (before !== undefined && after !== undefined) this.sendDifference(collection, id, before, after);
  }

  private sendDifference(collection: string, id: string, before: Fields, after: Fields): void {
    const fields = Object.fromEntries(
      Object.entries(after).filter(([name, value]) => !EJSON.equals(before[name], value)),
    );
    const cleared = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
    if (Object.keys(fields).length === 0 && cleared.length === 0) return;
    this.send({
      msg: 'changed',
      collection,
      id,
      ...(Object.keys(fields).length > 0 ? { fields } : {}),
      ...(cleared.length > 0 ? { cleared } : {}),
    });
  }
}

function merged(parts: ReadonlyMap<string, Fields>): Fields {
  return Object.assign({}, ...[...parts.values()].toReversed()) as Fields;
}

function withoutId({ _id, ...fields }: Fields): Fields {
  return fields;
}
