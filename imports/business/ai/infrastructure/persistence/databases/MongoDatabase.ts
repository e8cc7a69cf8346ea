/** MongoDB for plain Node, through the official driver. */
import type { Document, MongoClient } from 'mongodb';
import { explainMissingPackage } from '../../../domain/errors/explainMissingPackage';
import { LLMConnectionError, LLMInvalidRequestError } from '../../../domain/errors/LLMErrors';
import type { DocumentCollection, StoredDocument } from '../../../domain/interfaces/DocumentCollection';
import { checkCollectionName } from './DocumentDatabase';
import type { DocumentDatabase } from './DocumentDatabase';
import { MongoCollection } from './MongoCollection';

/** Defaults; a URL's own options take precedence. */
const TIMEOUTS = {
  serverSelectionTimeoutMS: 10_000,
  connectTimeoutMS: 10_000,
  socketTimeoutMS: 60_000,
  waitQueueTimeoutMS: 10_000,
};

/**
 * Connects and sends a ping, so that a wrong URL fails at startup.
 * @param url as in MONGO_URL; its path names the database, else the driver's default is used
 * @throws LLMInvalidRequestError for a URL that the driver cannot parse, LLMConnectionError if no server responds;
 *   neither repeats the URL, which may contain a password. MissingPackageError without the driver
 */
export async function openMongoDatabase(url: string): Promise<MongoDatabase> {
  const client = await createClient(url);
  try {
    await client.connect();
    await client.db().command({ ping: 1 });
  } catch (cause) {
    await client.close();
    throw new LLMConnectionError(
      `Could not connect to MongoDB at ${client.options.hosts.map((host) => host.toString()).join(', ')}.`,
      { cause },
    );
  }
  return new MongoDatabase(client);
}

export class MongoDatabase implements DocumentDatabase {
  readonly isExclusive = false;
  private readonly client: MongoClient;

  constructor(client: MongoClient) {
    this.client = client;
  }

  collection<T extends StoredDocument>(name: string): DocumentCollection<T> {
    checkCollectionName(name);
    // Compare-and-set requires reads from the primary and writes that a majority acknowledges.
    return new MongoCollection<T>(
      this.client
        .db()
        .collection<Document & StoredDocument>(name, { readPreference: 'primary', writeConcern: { w: 'majority' } }),
    );
  }

  async close(): Promise<void> {
    await this.client.close();
  }
}

async function createClient(url: string): Promise<MongoClient> {
  const { MongoClient: Client } = await importDriver();
  const givenOptions = new Set([...url.matchAll(/[?&]([A-Za-z]+)=/g)].map((match) => match[1]?.toLowerCase()));
  const timeouts = Object.fromEntries(
    Object.entries(TIMEOUTS).filter(([name]) => !givenOptions.has(name.toLowerCase())),
  );
  try {
    return new Client(url, { appName: 'bolide', ...timeouts });
  } catch (cause) {
    throw new LLMInvalidRequestError('MONGO_URL is not a valid MongoDB URL.', { cause, path: 'MONGO_URL' });
  }
}

async function importDriver(): Promise<typeof import('mongodb')> {
  try {
    return await import('mongodb');
  } catch (error) {
    throw explainMissingPackage(error, 'mongodb', 'The database at MONGO_URL');
  }
}
