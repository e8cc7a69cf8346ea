/** MongoDB for plain Node, by its official driver. */
import { MongoClient } from 'mongodb';
import type { Document } from 'mongodb';
import { LLMConnectionError, LLMInvalidRequestError } from '../../../domain/errors/LLMErrors';
import type { DocumentCollection, StoredDocument } from '../../../domain/interfaces/DocumentCollection';
import { checkCollectionName } from './DocumentDatabase';
import type { DocumentDatabase } from './DocumentDatabase';
import { MongoCollection } from './MongoCollection';

/** Milliseconds; a URL that names its own has its own. */
const TIMEOUTS = {
  serverSelectionTimeoutMS: 10_000,
  connectTimeoutMS: 10_000,
  socketTimeoutMS: 60_000,
  waitQueueTimeoutMS: 10_000,
};

/**
 * Connects and asks once, so that a wrong URL is known at the start.
 * @param url as in MONGO_URL; the database is the one in its path, or the driver's default
 * @throws LLMInvalidRequestError for a URL that the driver can't read, LLMConnectionError when nobody answers;
 *   neither repeats the URL, which may hold a password
 */
export async function openMongoDatabase(url: string): Promise<MongoDatabase> {
  const client = clientFor(url);
  try {
    await client.connect();
    await client.db().command({ ping: 1 });
  } catch (cause) {
    await client.close();
    throw new LLMConnectionError(
      `MongoDB at ${client.options.hosts.map((host) => host.toString()).join(', ')} can't be used`,
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
    // Compare-and-set is only true of what the primary says and a majority keeps.
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

function clientFor(url: string): MongoClient {
  const named = new Set([...url.matchAll(/[?&]([A-Za-z]+)=/g)].map((match) => match[1]?.toLowerCase()));
  const timeouts = Object.fromEntries(Object.entries(TIMEOUTS).filter(([name]) => !named.has(name.toLowerCase())));
  try {
    return new MongoClient(url, { appName: 'bolide', ...timeouts });
  } catch (cause) {
    throw new LLMInvalidRequestError('MONGO_URL is not a MongoDB URL', { cause, path: 'MONGO_URL' });
  }
}
