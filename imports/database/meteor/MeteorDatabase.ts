/** The database of a Meteor app. Meteor owns the connection, and allows one Mongo.Collection per name in a process. */
import type { DocumentCollection, StoredDocument } from '../DocumentCollection';
import { checkCollectionName, PROBED } from '../DocumentDatabase';
import { toDatabaseError } from '../databaseErrors';
import type { DocumentDatabase, StoreOutage } from '../DocumentDatabase';
import { hasChangeStreams, watchCollections } from '../mongo/MongoChanges';
import { MeteorCollection } from './MeteorCollection';
import type { MeteorMongo, MeteorMongoCollection } from './MeteorMongo';
import { isUnreachable, StoreCircuit } from '../StoreCircuit';
import type { StoreCircuitOptions } from '../StoreCircuit';

export class MeteorDatabase implements DocumentDatabase {
  readonly isExclusive = false;
  private readonly collections = new Map<string, MeteorMongoCollection>();
  private readonly publishedCollections = new Set<string>();
  private readonly writeListeners = new Set<(name: string) => void>();
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
    return new MeteorCollection<T>(name, this.open(name), this.circuit, () => {
      for (const listener of this.writeListeners) listener(name);
    });
  }

  /** The collections that publications have asked for so far. */
  get publishedNames(): readonly string[] {
    return [...this.publishedCollections];
  }

  /** @param listener told of the collection after each write of this process @returns ends it */
  onWrite(listener: (name: string) => void): () => void {
    this.writeListeners.add(listener);
    return () => void this.writeListeners.delete(listener);
  }

  async onChange(names: readonly string[], callback: (name: string) => void): Promise<(() => void) | undefined> {
    const database = this.open(PROBED).rawDatabase();
    if (!(await this.whileReachable(() => hasChangeStreams(database)))) return undefined;
    const changes = watchCollections(() => database, names, callback);
    return () => changes.stop();
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
    this.publishedCollections.add(name);
    return this.open(name);
  }

  private open(name: string): MeteorMongoCollection {
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
      await this.open(PROBED).findOneAsync({ _id: '' });
    } catch (cause) {
      throw toDatabaseError(cause, PROBED);
    }
  }
}
