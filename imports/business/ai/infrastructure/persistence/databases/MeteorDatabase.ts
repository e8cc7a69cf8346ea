/** The database of a Meteor app: Meteor holds the connection, and one Mongo.Collection for each name in the process. */
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

  /** The collection itself, for publications: its cursors are what they return. Writes go through `collection`. */
  published(name: string): Mongo.Collection<StoredDocument> {
    checkCollectionName(name);
    const known = this.collections.get(name);
    if (known !== undefined) return known;
    // Without them a client has no methods to write with, whatever allow rules say.
    const made = new Mongo.Collection<StoredDocument>(name, { defineMutationMethods: false });
    this.collections.set(name, made);
    return made;
  }

  /** The connection is Meteor's to close. */
  close(): Promise<void> {
    return Promise.resolve();
  }
}
