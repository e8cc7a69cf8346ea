/**
 * Repairs the database of a directory that no process uses: writes the documents that can be read to a new file, whose
 * columns and indexes follow from them. A document that cannot be read is left out only if that is asked for.
 */
import { cp, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { lockDataDirectory } from '../../embedded/EmbeddedDatabase';
import { loadTexts } from '../../embedded/loadTexts';
import type { RepairOptions } from '../../embedded/maintenance/repairDirectory';
import { timestamp } from '../../embedded/maintenance/repairDirectory';
import { sizeOf } from '../../embedded/FileSizes';
import { syncDirectory } from '../../embedded/replaceFile';
import { StoreError } from '../../databaseErrors';
import { loadSqlite } from '../nodeSqlite';
import type { SqlRow } from '../nodeSqlite';
import { SqliteCollection } from '../SqliteCollection';
import { openSqliteFile, SQLITE_FILE, SQLITE_FILES } from '../SqliteDatabase';
import type { SqliteFile } from '../SqliteFile';
import { inspectSqlite } from './inspectSqlite';
import type { SqliteReport } from './inspectSqlite';
import { readSqlite, tablesOf, visitRows } from './readSqlite';

export interface SqliteRepair {
  /** Of the files before they were changed; undefined if none was. */
  readonly copies: string | undefined;
  /** What cannot be read: left out with `acceptLoss`. */
  readonly lost: readonly string[];
  readonly remaining: SqliteReport;
}

/** @throws DirectoryLockedError, StoreError, StorageFullError */
export async function repairSqlite(directory: string, { acceptLoss, now }: RepairOptions): Promise<SqliteRepair> {
  const lock = await lockDataDirectory(directory);
  const path = join(directory, SQLITE_FILE);
  const repaired = `${path}.repairing`;
  try {
    const found = await inspectSqlite(directory);
    if (found.problems.length === 0) return { copies: undefined, lost: [], remaining: found };
    await removeFiles(repaired);
    const target = await openSqliteFile(loadSqlite(path), repaired, () => lock.verify());
    let lost: readonly string[];
    try {
      lost = await readSqlite(directory, (file) => copyDocuments(file, target));
      target.emptyLog();
    } finally {
      await target.close();
    }
    if (lost.length > 0 && !acceptLoss) return { copies: undefined, lost, remaining: found };
    const copies = join(directory, `before-repair-${timestamp(now)}`);
    await replaceSqlite(directory, repaired, copies);
    return { copies, lost, remaining: await inspectSqlite(directory) };
  } finally {
    await removeFiles(repaired);
    await lock.release();
  }
}

/** Puts a closed database in the place of the one of a directory, which is copied before. */
export async function replaceSqlite(directory: string, database: string, copies: string): Promise<void> {
  await mkdir(copies, { recursive: true, mode: 0o700 });
  for (const name of SQLITE_FILES)
    if ((await sizeOf(join(directory, name))) !== undefined) await cp(join(directory, name), join(copies, name));
  await syncDirectory(copies);
  // The log belongs to the file that is replaced.
  for (const name of SQLITE_FILES) if (name !== SQLITE_FILE) await rm(join(directory, name), { force: true });
  await rename(database, join(directory, SQLITE_FILE));
  await syncDirectory(directory);
}

/** @returns what could not be read */
async function copyDocuments(from: SqliteFile, to: SqliteFile): Promise<readonly string[]> {
  const lost: string[] = [];
  for (const table of tablesOf(from)) {
    const collection = new SqliteCollection(to, table.collection);
    const rows: SqlRow[] = [];
    const unreadable = visitRows(from, table, ({ rowid, document, checksum }) => {
      rows.push({ rowid, document, checksum });
    });
    if (unreadable !== undefined)
      lost.push(`${table.collection}: rows from ${unreadable.from} to ${unreadable.to ?? 'the end'}`);
    for (const row of rows) {
      try {
        await collection.insertMany(await loadTexts([table.read(row)]));
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        lost.push(`${table.collection}, row ${String(row['rowid'])}: ${error.message}`);
      }
    }
  }
  return lost;
}

async function removeFiles(path: string): Promise<void> {
  for (const ending of ['', '-wal', '-shm', '-journal']) await rm(path + ending, { force: true });
}
