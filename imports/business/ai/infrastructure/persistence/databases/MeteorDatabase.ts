/** The database of a Meteor app. Meteor owns the connection, and allows one Mongo.Collection per name in a process. */
import type { DocumentCollection, StoredDocument } from '../../../domain/interfaces/DocumentCollection';
import { checkCollectionName } from './DocumentDatabase';
import type { DocumentDatabase } from './DocumentDatabase';
import { MeteorCollection } from './MeteorCollection';
import type { MeteorMongo, MeteorMongoCollection } from './MeteorMongo';

export class MeteorDatabase implements DocumentDatabase {
  readonly isExclusive = false;
  private readonly collections = new Map<string, MeteorMongoCollection>();
  private readonly Mongo: MeteorMongo;

  /** @param packages `Mongo` of `meteor/mongo` */
  constructor({ Mongo }: { readonly Mongo: MeteorMongo }) {
    this.Mongo = Mongo;
  }

  collection<T extends StoredDocument>(name: string): DocumentCollection<T> {
    return new MeteorCollection<T>(name, this.published(name));
  }

  /** Meteor's collection, for publications, which return its cursors. Write through `collection` instead. */
  published(name: string): MeteorMongoCollection {
    checkCollectionName(name);
    const existing = this.collections.get(name);
    if (existing !== undefined) return existing;
    // Without mutation methods clients cannot write, whatever the allow rules are.
    const created = new this.Mongo.Collection(name, { defineMutationMethods: false }) as MeteorMongoCollection;
    this.collections.set(name, created);
    return created;
  }

  /** Does nothing: Meteor closes its own connection. */
  close(): Promise<void> {
    return Promise.resolve();
  }
}
