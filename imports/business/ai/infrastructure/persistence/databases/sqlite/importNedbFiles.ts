/**
 * Imports the data files of NeDB into SQLite. The new database gets its name when it is complete and on the disk; from
 * then on, it is the one that counts, and NeDB's files are put aside. Whatever interrupts that, a later start completes
 * it or begins again, and no file is lost.
 */
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoredDocument } from '../../../../domain/interfaces/DocumentCollection';
import { DATA_EXTENSION, TEXTS_EXTENSION } from '../embedded/dataFiles';
import { EmbeddedDatabase, lockDataDirectory } from '../embedded/EmbeddedDatabase';
import { SIZES_FILE } from '../embedded/FileSizes';
import { syncDirectory } from '../embedded/replaceFile';
import { loadSqlite } from './nodeSqlite';
import { SqliteCollection } from './SqliteCollection';
import { openSqliteFile, SQLITE_FILE } from './SqliteDatabase';
import { toSqliteError } from './sqliteErrors';

export interface NedbImport {
  readonly collections: number;
  readonly documents: number;
  /** Where NeDB's files are now. */
  readonly aside: string;
}

const ASIDE = 'nedb-before-import';
/** Documents that are in memory twice at a time. */
const BATCH = 500;

/**
 * @throws DirectoryLockedError, CorruptDataFileError for damaged files, StoreError also in a Node without SQLite,
 *   StorageFullError
 */
export async function importNedbFiles(directory: string): Promise<NedbImport> {
  const sqlite = loadSqlite(`The import of ${directory}`);
  const lock = await lockDataDirectory(directory);
  const path = join(directory, SQLITE_FILE);
  const incomplete = `${path}.importing`;
  try {
    await removeDatabase(incomplete);
    // It shares the lock, which is released below.
    const source = new EmbeddedDatabase(directory, { verify: () => lock.verify(), release: () => Promise.resolve() });
    let documents = 0;
    const names = await nedbCollections(directory);
    try {
      await source.loadAll();
      const target = await openSqliteFile(sqlite, incomplete, () => lock.verify());
      try {
        for (const name of names) {
          const from = source.collection<StoredDocument>(name);
          const to = new SqliteCollection<StoredDocument>(target, name);
          const ids = (await from.find({}, { fields: { _id: 1 } })).map(({ _id }) => _id);
          for (let at = 0; at < ids.length; at += BATCH)
            await to.insertMany(await from.find({ _id: { $in: ids.slice(at, at + BATCH) } }));
          documents += ids.length;
        }
        target.emptyLog();
      } finally {
        await target.close();
      }
    } finally {
      await source.close();
    }
    await lock.verify();
    await rename(incomplete, path);
    await syncDirectory(directory);
    return { collections: names.length, documents, aside: await moveNedbFiles(directory) };
  } catch (cause) {
    await removeDatabase(incomplete);
    throw toSqliteError(`${directory} could not be imported`, path, cause);
  } finally {
    await lock.release();
  }
}

/** Completes an import whose database is complete. @throws DirectoryLockedError, StoreError */
export async function setNedbFilesAside(directory: string): Promise<void> {
  const lock = await lockDataDirectory(directory);
  try {
    await moveNedbFiles(directory);
  } finally {
    await lock.release();
  }
}

export async function nedbCollections(directory: string): Promise<readonly string[]> {
  return (await readdir(directory))
    .filter((name) => name.endsWith(DATA_EXTENSION))
    .map((name) => name.slice(0, -DATA_EXTENSION.length))
    .sort();
}

async function moveNedbFiles(directory: string): Promise<string> {
  const aside = join(directory, ASIDE);
  await mkdir(aside, { recursive: true, mode: 0o700 });
  for (const name of await readdir(directory)) {
    if (!name.endsWith(DATA_EXTENSION) && !name.endsWith(TEXTS_EXTENSION) && name !== SIZES_FILE) continue;
    // Of an earlier import, if a backup was restored since.
    await rm(join(aside, name), { recursive: true, force: true });
    await rename(join(directory, name), join(aside, name));
  }
  return aside;
}

/** With its log. */
async function removeDatabase(path: string): Promise<void> {
  for (const ending of ['', '-wal', '-shm', '-journal']) await rm(path + ending, { force: true });
}
