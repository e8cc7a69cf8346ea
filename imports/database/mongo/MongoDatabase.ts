/** MongoDB for plain Node, through the official driver. */
import type { Collection, Document, MongoClient } from 'mongodb';
import { explainMissingPackage } from '../../business/ai/domain/errors/explainMissingPackage';
import type { DocumentCollection, StoredDocument } from '../DocumentCollection';
import { connectMongo, createMongoClient } from './connectMongo';
import { checkCollectionName, PROBED } from '../DocumentDatabase';
import { toDatabaseError } from '../databaseErrors';
import type { DocumentDatabase, StoreOutage } from '../DocumentDatabase';
import { hasChangeStreams, watchCollections } from './MongoChanges';
import type { MongoChanges } from './MongoChanges';
import { MongoCollection } from './MongoCollection';
import { StoreCircuit } from '../StoreCircuit';
import type { StoreCircuitOptions } from '../StoreCircuit';

export interface MongoDatabaseOptions extends Pick<StoreCircuitOptions, 'times' | 'logger'> {
  /** Creates a client like the first one. Absent: a client that stops working is not replaced. */
  readonly createClient?: () => Promise<MongoClient>;
}

/**
 * Connects and sends a ping, so that a wrong URL fails at startup.
 * @param url as in MONGO_URL; its path names the database, else the driver's default is used
 * @throws LLMInvalidRequestError for a URL that the driver cannot parse, LLMConnectionError if no server responds;
 *   neither repeats the URL, which may contain a password. MissingPackageError without the driver
 */
export async function openMongoDatabase(
  url: string,
  options: Omit<MongoDatabaseOptions, 'createClient'> = {},
): Promise<MongoDatabase> {
  const client = await createClient(url);
  try {
    await connectMongo(client);
  } catch (error) {
    await client.close();
    throw error;
  }
  return new MongoDatabase(client, { ...options, createClient: () => createClient(url) });
}

export class MongoDatabase implements DocumentDatabase {
  readonly isExclusive = false;
  private client: MongoClient;
  /** A client that may replace the present one. */
  private candidate: MongoClient | undefined;
  private readonly circuit: StoreCircuit;
  private readonly changes = new Set<MongoChanges>();

  constructor(client: MongoClient, { createClient, ...options }: MongoDatabaseOptions = {}) {
    this.client = client;
    this.circuit = new StoreCircuit({
      ...options,
      probe: () => this.probe(),
      reconnect: createClient === undefined ? undefined : () => this.reconnect(createClient),
    });
    this.observe(client);
  }

  get outage(): StoreOutage | undefined {
    return this.circuit.outage;
  }

  collection<T extends StoredDocument>(name: string): DocumentCollection<T> {
    checkCollectionName(name);
    // Compare-and-set requires reads from the primary and writes that a majority acknowledges.
    const options = { readPreference: 'primary', writeConcern: { w: 'majority' } } as const;
    let of: MongoClient | undefined;
    let opened: Collection<Document & StoredDocument>;
    const open = (): typeof opened => {
      if (of !== this.client) opened = (of = this.client).db().collection(name, options);
      return opened;
    };
    return new MongoCollection<T>(name, open, this.circuit);
  }

  async onChange(names: readonly string[], callback: (name: string) => void): Promise<(() => void) | undefined> {
    const isReported = await this.circuit.run(async () => {
      try {
        return await hasChangeStreams(this.client.db());
      } catch (cause) {
        throw toDatabaseError(cause, names.join(', '));
      }
    });
    if (!isReported) return undefined;
    const changes = watchCollections(() => this.client.db(), names, callback);
    this.changes.add(changes);
    return () => {
      this.changes.delete(changes);
      changes.stop();
    };
  }

  async close(): Promise<void> {
    for (const changes of this.changes) changes.stop();
    this.circuit.close();
    await this.candidate?.close(true);
    await this.client.close();
  }

  /** A read, which the driver repeats once on another connection, and for which it waits for a primary. */
  private async probe(): Promise<void> {
    try {
      await this.client.db().collection<StoredDocument>(PROBED).findOne({ _id: '' });
    } catch (cause) {
      throw toDatabaseError(cause, PROBED);
    }
  }

  /**
   * Replaces the client. The driver's monitor of a server may end for good when a connection is cut while it polls; the
   * client then finds no server any more.
   */
  private async reconnect(create: () => Promise<MongoClient>): Promise<void> {
    // The last attempt did not succeed in time.
    discard(this.candidate);
    const candidate = await create();
    this.candidate = candidate;
    await connectMongo(candidate);
    if (this.candidate !== candidate) return;
    const previous = this.client;
    this.client = candidate;
    this.candidate = undefined;
    this.observe(candidate);
    discard(previous);
  }

  private observe(client: MongoClient): void {
    client.on('serverHeartbeatFailed', () => {
      if (client === this.client) this.circuit.suspect();
    });
  }
}

/** Not awaited: it may wait for a server that does not answer. */
function discard(client: MongoClient | undefined): void {
  client?.close(true).catch(() => undefined);
}

async function createClient(url: string): Promise<MongoClient> {
  const { MongoClient: Client } = await importDriver();
  return createMongoClient(Client, url);
}

async function importDriver(): Promise<typeof import('mongodb')> {
  try {
    return await import('mongodb');
  } catch (error) {
    throw explainMissingPackage(error, 'mongodb', 'The database at MONGO_URL');
  }
}
