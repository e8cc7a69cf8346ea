/**
 * The browser's collection of a name. Meteor allows one per name, so that the dashboard, the helpers and the app's own
 * code have to share it.
 */
import { Mongo } from 'meteor/mongo';
import type { CollectionName } from './collections';

/** Finds the collection that the app has created itself, or creates it. */
export function clientCollection<T extends { readonly _id: string }>(name: CollectionName<T>): Mongo.Collection<T> {
  // The types of older releases do not declare `getCollection`.
  const { getCollection } = Mongo as { getCollection?: (name: string) => Mongo.Collection<T> | undefined };
  const collection = created.get(name) ?? getCollection?.call(Mongo, name) ?? new Mongo.Collection<T>(name);
  created.set(name, collection);
  return collection as Mongo.Collection<T>;
}

const created = new Map<string, object>();
