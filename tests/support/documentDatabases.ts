/** The databases that implement the contract for document stores, each opened empty. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import type { DocumentDatabase } from '../../imports/database/DocumentDatabase';
import { MeteorDatabase } from '../../imports/database/meteor/MeteorDatabase';
import { openMongoDatabase } from '../../imports/database/mongo/MongoDatabase';
import { openSqliteDatabase } from '../../imports/database/sqlite/SqliteDatabase';
import { registry, resetMeteor } from '../stubs/server/registry';
import { startTestMongo } from './startTestMongo';
import { METEOR_PACKAGES } from '../meteor/meteorPackages';
import { IS_SOAK } from './soak';

export interface TestDatabase {
  readonly database: DocumentDatabase;
  /** Makes the database scan for expired documents soon. The MongoDB that MONGO_URL names scans on its own schedule. */
  expire(): Promise<void>;
  close(): Promise<void>;
}

export type OpenDatabase = () => Promise<TestDatabase>;

export const DATABASES = {
  'embedded (SQLite)': openEmbedded,
  'MongoDB over the wire': openMongo,
  'Meteor (stand-in)': openMeteor,
} as const satisfies Record<string, OpenDatabase>;

/** @param name one of `DATABASES` */
export async function openDatabaseOf(name: string): Promise<TestDatabase> {
  const opened = Object.entries(DATABASES).find(([each]) => each === name)?.[1]();
  if (opened === undefined) throw new Error(`There is no database ${name}.`);
  return opened;
}

/** For suites of what is above the store: all of them at full counts, otherwise the embedded one. */
export const QUICK_DATABASES: Readonly<Record<string, OpenDatabase>> = IS_SOAK
  ? DATABASES
  : { 'embedded (SQLite)': openEmbedded };

/** Milliseconds. */
const SWEEP = 20;

async function openEmbedded(): Promise<TestDatabase> {
  const directory = await mkdtemp(join(tmpdir(), 'bolide-embedded-'));
  const database = await openSqliteDatabase({ directory, expireEvery: SWEEP });
  return {
    database,
    expire: () => Promise.resolve(),
    async close() {
      await database.close();
      await rm(directory, { recursive: true });
    },
  };
}

async function openMongo(): Promise<TestDatabase> {
  const mongo = await startTestMongo();
  const database = await openMongoDatabase(mongo.url);
  const client = await MongoClient.connect(mongo.url);
  return {
    database,
    async expire() {
      if (mongo.isStandIn) await client.db('admin').command({ setParameter: 1, ttlMonitorSleepSecs: SWEEP / 1000 });
    },
    async close() {
      await client.db().dropDatabase();
      await client.close();
      await database.close();
      await mongo.stop();
    },
  };
}

async function openMeteor(): Promise<TestDatabase> {
  resetMeteor();
  return {
    database: new MeteorDatabase(METEOR_PACKAGES),
    expire: async () => {
      for (const collection of registry.collections.values()) collection.expire(Date.now());
    },
    close: async () => resetMeteor(),
  };
}
