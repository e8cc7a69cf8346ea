/** The database of a Meteor app. Meteor owns the connection, and allows one Mongo.Collection per name in a process. */
import type { DocumentCollection, StoredDocument } from '../DocumentCollection';
import { checkCollectionName, PROBED } from '../DocumentDatabase';
import { toDatabaseError } from '../databaseErrors';
import type { DocumentDatabase, StoreOutage } from '../DocumentDatabase';
import { MeteorCollection } from './MeteorCollection';
import type { MeteorMongo, MeteorMongoCollection } from './MeteorMongo';
import { isUnreachable, StoreCircuit } from '../StoreCircuit';
import type { StoreCircuitOptions } from '../StoreCircuit';

export class MeteorDatabase implements DocumentDatabase {
  readonly isExclusive = false;
  private readonly collections = new Map<string, MeteorMongoCollection>();
  private readonly Mongo: MeteorMongo;
  private readonly circuit: StoreCircuit;

  /** @param packages `Mongo` of `meteor/mongo` */
  constructor({ Mongo }: { readonly Mongo: MeteorMongo }, options: Pick<StoreCircuitOptions, 'times' | 'logger'> = {}) {
    this.Mongo = Mongo;
    this.circuit = new StoreCircuit({ ...options, probe: () => this.probe() });
  }

  get outage(): StoreOutage | undefined {
    return this.circuit.outage;
  }

  collection<T extends StoredDocument>(name: string): DocumentCollection<T> {
    return new MeteorCollection<T>(name, this.published(name), this.circuit);
  }

  /**
   * For reads of the app's own collections, such as that of users: they fail at once while the database is away.
   * @throws StoreUnavailableError
   */
  readonly whileReachable = <Result>(read: () => Promise<Result>): Promise<Result> =>
    this.circuit.run(async () => {
      try {
        return await read();
      } catch (cause) {
        const error = toDatabaseError(cause, 'The database');
        throw isUnreachable(error) ? error : cause;
      }
    });

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

  /** Meteor closes its own connection. */
  close(): Promise<void> {
    this.circuit.close();
    return Promise.resolve();
  }

  private async probe(): Promise<void> {
    try {
      await this.published(PROBED).findOneAsync({ _id: '' });
    } catch (cause) {
      throw toDatabaseError(cause, PROBED);
    }
  }
}
