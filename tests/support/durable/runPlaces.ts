/** The stores in which processes keep their runs, one after another. */
import { rm } from 'node:fs/promises';
import type { DocumentDatabase } from '../../../imports/business/ai/infrastructure/persistence/databases/DocumentDatabase';
import { openDatabase } from '../../../imports/business/ai/infrastructure/persistence/databases/openDatabase';
import { findSqlite } from '../../../imports/business/ai/infrastructure/persistence/databases/sqlite/nodeSqlite';
import { newDataDirectory } from '../newDataDirectory';
import { startTestMongo } from '../startTestMongo';

export interface RunPlace {
  /** Passed to the children. */
  readonly name: string;
  /** Opens the database between two processes. */
  open(): Promise<DocumentDatabase>;
  close(): Promise<void>;
}

/** The processes take the engine that the directory has. */
async function openDirectory(engine: 'nedb' | 'sqlite'): Promise<RunPlace> {
  const name = await newDataDirectory('bolide-runs-', engine);
  return { name, open: () => openDatabase({ DATA_DIR: name }), close: () => rm(name, { recursive: true }) };
}

export const RUN_PLACES: Readonly<Record<string, () => Promise<RunPlace>>> = {
  ...(findSqlite() === undefined ? {} : { SQLite: () => openDirectory('sqlite') }),
  NeDB: () => openDirectory('nedb'),
  'MongoDB, which survives': async () => {
    const mongo = await startTestMongo();
    return { name: mongo.url, open: () => openDatabase({ MONGO_URL: mongo.url }), close: () => mongo.stop() };
  },
};
