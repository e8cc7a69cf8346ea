/** Opens the database of plain Node: MongoDB if MONGO_URL is set, else the embedded database in DATA_DIR. */
import { readdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { DocumentDatabase } from './DocumentDatabase';
import { codeOf, toFileError } from './fileErrors';
import { openMongoDatabase } from './mongo/MongoDatabase';
import { hasDataFiles, importDataFiles } from './sqlite/import/importDataFiles';
import { openSqliteDatabase } from './sqlite/SqliteDatabase';

export interface DatabaseEnvironment {
  readonly MONGO_URL?: string | undefined;
  /** Default: `.data`. The files of version 0.2 in it are imported. */
  readonly DATA_DIR?: string | undefined;
}

/**
 * @param print receives what an import says. Default: the standard error
 * @throws as openMongoDatabase, openSqliteDatabase and importDataFiles do
 */
export async function openDatabase(
  { MONGO_URL: url, DATA_DIR: given }: DatabaseEnvironment,
  print = (line: string): void => console.error(line),
): Promise<DocumentDatabase> {
  if (url !== undefined && url !== '') return openMongoDatabase(url);
  const directory = resolve(given === undefined || given === '' ? '.data' : given);
  if (hasDataFiles(await filesIn(directory))) await importDataFiles(directory, { print });
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
