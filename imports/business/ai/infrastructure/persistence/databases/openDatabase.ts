/** Opens the database of plain Node: MongoDB if MONGO_URL is set, else the embedded database in DATA_DIR. */
import type { DocumentDatabase } from './DocumentDatabase';
import { openEmbeddedDatabase } from './embedded/EmbeddedDatabase';
import { openMongoDatabase } from './MongoDatabase';

export interface DatabaseEnvironment {
  readonly MONGO_URL?: string | undefined;
  /** Default: `.data`. */
  readonly DATA_DIR?: string | undefined;
}

/** @throws as openMongoDatabase and openEmbeddedDatabase do */
export async function openDatabase(environment: DatabaseEnvironment): Promise<DocumentDatabase> {
  const { MONGO_URL: url, DATA_DIR: directory } = environment;
  if (url !== undefined && url !== '') return openMongoDatabase(url);
  return openEmbeddedDatabase({ directory: directory === undefined || directory === '' ? '.data' : directory });
}
