/** The parts of `meteor/mongo` on the server that stores and publications use. */
import type { Db } from 'mongodb';
import type { StoredDocument } from '../DocumentCollection';

/** The object `Mongo` of `meteor/mongo`. */
export interface MeteorMongo {
  readonly Collection: new (name: string, options: { readonly defineMutationMethods: boolean }) => unknown;
}

export interface MeteorMongoCollection<T extends StoredDocument = StoredDocument> {
  find(selector: object, options?: object): MeteorMongoCursor<T>;
  findOneAsync(selector: object | string, options?: object): Promise<T | undefined>;
  insertAsync(document: T): Promise<string>;
  updateAsync(selector: object, modifier: object, options?: { readonly multi?: boolean }): Promise<number>;
  removeAsync(selector: object): Promise<number>;
  createIndexAsync(keys: object, options?: object): Promise<unknown>;
  /** The driver's database, which only notifies here. */
  rawDatabase(): Pick<Db, 'command' | 'watch'>;
  /** The driver's collection. Observers don't see its writes, so it is only read. */
  rawCollection(): {
    aggregate(pipeline: object[]): { toArray(): Promise<Readonly<Record<string, unknown>>[]> };
  };
}

export interface MeteorMongoCursor<T> {
  fetchAsync(): Promise<T[]>;
  countAsync(): Promise<number>;
  observeChangesAsync(callbacks: MeteorObserver): Promise<{ stop(): void }>;
}

export interface MeteorObserver {
  readonly added?: (id: string, fields: Readonly<Record<string, unknown>>) => void | Promise<void>;
  /** The fields that have changed, undefined for those that are gone. */
  readonly changed?: (id: string, fields: Readonly<Record<string, unknown>>) => void | Promise<void>;
  readonly removed?: (id: string) => void | Promise<void>;
}
