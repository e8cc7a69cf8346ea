/** The database of plain Node: MongoDB where MONGO_URL names one, the embedded store in DATA_DIR otherwise. */
import type { DocumentDatabase } from './DocumentDatabase';
import { openEmbeddedDatabase } from './embedded/EmbeddedDatabase';
import { openMongoDatabase } from './MongoDatabase';

export interface DatabaseEnvironment {
  readonly MONGO_URL?: string | undefined;
  /** `.data` by default. */
  readonly DATA_DIR?: string | undefined;
}

/** @throws what openMongoDatabase and openEmbeddedDatabase throw */
export async function openDatabase(environment: DatabaseEnvironment): Promise<DocumentDatabase> {
  const { MONGO_URL: url, DATA_DIR: directory } = environment;
  if (url !== undefined && url !== '') return openMongoDatabase(url);
  return openEmbeddedDatabase({ directory: directory === undefined || directory === '' ? '.data' : directory });
}
