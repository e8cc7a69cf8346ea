/** The stores in which processes keep their runs, one after another. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DocumentDatabase } from '../../../imports/database/DocumentDatabase';
import { openDatabase } from '../../../imports/database/openDatabase';
import { startTestMongo } from '../startTestMongo';

export interface RunPlace {
  /** Passed to the children. */
  readonly name: string;
  /** Opens the database between two processes. */
  open(): Promise<DocumentDatabase>;
  close(): Promise<void>;
}

async function openDirectory(): Promise<RunPlace> {
  const name = await mkdtemp(join(tmpdir(), 'bolide-runs-'));
  return { name, open: () => openDatabase({ DATA_DIR: name }), close: () => rm(name, { recursive: true }) };
}

export const RUN_PLACES: Readonly<Record<string, () => Promise<RunPlace>>> = {
  SQLite: openDirectory,
  'MongoDB, which survives': async () => {
    const mongo = await startTestMongo();
    return { name: mongo.url, open: () => openDatabase({ MONGO_URL: mongo.url }), close: () => mongo.stop() };
  },
};
