/** Opens the database of plain Node: MongoDB if MONGO_URL is set, else an embedded database in DATA_DIR. */
import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { LLMInvalidRequestError } from '../../../domain/errors/LLMErrors';
import { StoreError } from './databaseErrors';
import type { DocumentDatabase } from './DocumentDatabase';
import { DATA_EXTENSION } from './embedded/dataFiles';
import { openEmbeddedDatabase } from './embedded/EmbeddedDatabase';
import { codeOf, toFileError } from './embedded/fileErrors';
import { openMongoDatabase } from './MongoDatabase';
import { importNedbFiles, setNedbFilesAside } from './sqlite/importNedbFiles';
import { findSqlite } from './sqlite/nodeSqlite';
import { openSqliteDatabase, SQLITE_FILE } from './sqlite/SqliteDatabase';

export interface DatabaseEnvironment {
  readonly MONGO_URL?: string | undefined;
  /** Default: `.data`. */
  readonly DATA_DIR?: string | undefined;
  /**
   * `nedb` or `sqlite`. Default: what the directory has, and for a new one `sqlite` where Node has it. With `sqlite`,
   * NeDB's files are imported.
   */
  readonly DATA_ENGINE?: string | undefined;
}

/** @throws as openMongoDatabase, openEmbeddedDatabase and openSqliteDatabase do; LLMInvalidRequestError */
export async function openDatabase(environment: DatabaseEnvironment): Promise<DocumentDatabase> {
  const { MONGO_URL: url, DATA_DIR: directory, DATA_ENGINE: engine } = environment;
  if (url !== undefined && url !== '') return openMongoDatabase(url);
  return openDirectory(resolve(directory === undefined || directory === '' ? '.data' : directory), engine ?? '');
}

async function openDirectory(directory: string, engine: string): Promise<DocumentDatabase> {
  if (!['', 'nedb', 'sqlite'].includes(engine))
    throw new LLMInvalidRequestError(`DATA_ENGINE is ${JSON.stringify(engine)}. Set it to nedb or sqlite.`, {
      path: 'DATA_ENGINE',
    });
  const files = await filesIn(directory);
  const hasNedb = files.some((name) => name.endsWith(DATA_EXTENSION));
  if (files.includes(SQLITE_FILE)) {
    if (engine === 'nedb')
      throw new StoreError(
        `DATA_ENGINE is nedb, but ${join(directory, SQLITE_FILE)} is there. Remove DATA_ENGINE, or set DATA_DIR to ` +
          'another directory.',
      );
    // An import was interrupted after its end.
    if (hasNedb) await setNedbFilesAside(directory);
    return openSqliteDatabase({ directory });
  }
  const isNedb = engine === '' ? hasNedb || findSqlite() === undefined : engine === 'nedb';
  if (isNedb) return openEmbeddedDatabase({ directory });
  if (hasNedb) await importNedbFiles(directory);
  return openSqliteDatabase({ directory });
}

/** None for a directory that doesn't exist. */
async function filesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return [];
    throw toFileError(`The data directory ${directory} cannot be used`, cause);
  }
}
