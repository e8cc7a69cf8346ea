/** Connections to MongoDB by the official driver. */
import type { MongoClient } from 'mongodb';
import { LLMConnectionError, LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';

/**
 * Milliseconds. Defaults; a URL's own options take precedence. An operation that waits for a free connection waits as
 * long as for an answer: a busy database is used as it is, and the circuit ends the wait if there is none.
 */
const TIMEOUTS = {
  serverSelectionTimeoutMS: 10_000,
  connectTimeoutMS: 10_000,
  socketTimeoutMS: 60_000,
  waitQueueTimeoutMS: 60_000,
};

/**
 * @param Client the driver's class
 * @param url as in MONGO_URL; its path names the database, else the driver's default is used
 * @throws LLMInvalidRequestError for a URL that the driver cannot parse; it does not repeat the URL
 */
export function createMongoClient(Client: typeof MongoClient, url: string): MongoClient {
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

/** @throws LLMConnectionError if no server responds; it does not repeat the URL, which may contain a password */
export async function connectMongo(client: MongoClient): Promise<void> {
  try {
    await client.connect();
    await client.db().command({ ping: 1 });
  } catch (cause) {
    throw new LLMConnectionError(
      `Could not connect to MongoDB at ${client.options.hosts.map((host) => host.toString()).join(', ')}.`,
      { cause },
    );
  }
}
