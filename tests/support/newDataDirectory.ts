import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../../imports/business/ai/infrastructure/persistence/databases/openDatabase';

/** A temporary data directory whose engine is chosen, so that whoever opens it takes that one. */
export async function newDataDirectory(prefix: string, engine: 'nedb' | 'sqlite'): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), prefix));
  const database = await openDatabase({ DATA_DIR: directory, DATA_ENGINE: engine });
  try {
    // NeDB creates its files with the first document.
    const collection = database.collection('placeholders');
    await collection.insert({ _id: 'placeholder' });
    await collection.remove({});
  } finally {
    await database.close();
  }
  return directory;
}
