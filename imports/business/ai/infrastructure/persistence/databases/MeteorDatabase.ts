/** The database of a Meteor app. Meteor owns the connection, and allows one Mongo.Collection per name in a process. */
import { Mongo } from 'meteor/mongo';
import type { DocumentCollection, StoredDocument } from '../../../domain/interfaces/DocumentCollection';
import { checkCollectionName } from './DocumentDatabase';
import type { DocumentDatabase } from './DocumentDatabase';
import { MeteorCollection } from './MeteorCollection';

export class MeteorDatabase implements DocumentDatabase {
  readonly isExclusive = false;
  private readonly collections = new Map<string, Mongo.Collection<StoredDocument>>();

  collection<T extends StoredDocument>(name: string): DocumentCollection<T> {
    return new MeteorCollection<T>(name, this.published(name));
  }

  /** Meteor's collection, for publications, which return its cursors. Write through `collection` instead. */
  published(name: string): Mongo.Collection<StoredDocument> {
    checkCollectionName(name);
    const existing = this.collections.get(name);
    if (existing !== undefined) return existing;
    // Without mutation methods clients cannot write, whatever the allow rules are.
    const created = new Mongo.Collection<StoredDocument>(name, { defineMutationMethods: false });
    this.collections.set(name, created);
    return created;
  }

  /** Does nothing: Meteor closes its own connection. */
  close(): Promise<void> {
    return Promise.resolve();
  }
}
