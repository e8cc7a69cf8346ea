/**
 * Repairs the database of a directory that no process uses: writes the documents that can be read to a new file, whose
 * columns and indexes follow from them. A document that cannot be read is left out only if that is asked for.
 */
import { existsSync } from 'node:fs';
import { cp, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreError } from '../../databaseErrors';
import { loadTexts } from '../../query/loadTexts';
import { lockDataDirectory } from '../lockDataDirectory';
import type { SqlRow } from '../nodeSqlite';
import { CHANGES_FILE, openSqliteFile, removeSqliteFile, SQLITE_FILE, SQLITE_FILES } from '../openSqliteFile';
import { SqliteCollection } from '../SqliteCollection';
import type { SqliteFile } from '../SqliteFile';
import { syncDirectory } from '../syncDirectory';
import { inspectSqlite } from './inspectSqlite';
import type { SqliteReport } from './inspectSqlite';
import { readSqlite, tablesOf, visitRows } from './readSqlite';

export interface RepairOptions {
  /** Leaves out documents that cannot be read. */
  readonly acceptLoss: boolean;
  /** Names the directory of the copies. */
  readonly now: Date;
}

export interface SqliteRepair {
  /** The directory with copies of the files from before the repair; undefined if no file was changed. */
  readonly copies: string | undefined;
  /** What cannot be read: left out with `acceptLoss`. */
  readonly lost: readonly string[];
  readonly remaining: SqliteReport;
}

/** @throws DirectoryLockedError, StoreError, StorageFullError */
export async function repairSqlite(directory: string, { acceptLoss, now }: RepairOptions): Promise<SqliteRepair> {
  const lock = lockDataDirectory(directory);
  const path = join(directory, SQLITE_FILE);
  const repaired = `${path}.repairing`;
  try {
    const unlogged = await applyLog(directory);
    const found = await inspectSqlite(directory);
    if (found.problems.length === 0 && unlogged.length === 0) return { copies: undefined, lost: [], remaining: found };
    await removeSqliteFile(repaired);
    const target = await openSqliteFile(repaired);
    let lost: readonly string[];
    try {
      lost = [...unlogged, ...(await readSqlite(directory, (file) => copyDocuments(file, target)))];
      target.emptyLog();
    } finally {
      await target.close();
    }
    if (lost.length > 0 && !acceptLoss) return { copies: undefined, lost, remaining: found };
    const copies = await replaceSqlite(directory, repaired, join(directory, `before-repair-${timestamp(now)}`));
    return { copies, lost, remaining: await inspectSqlite(directory) };
  } finally {
    await removeSqliteFile(repaired);
    lock.release();
  }
}

/** @returns what cannot be applied of the changes that a crash has left in the log */
async function applyLog(directory: string): Promise<readonly string[]> {
  if (!existsSync(join(directory, CHANGES_FILE))) return [];
  try {
    await (await openSqliteFile(join(directory, SQLITE_FILE), { isLogged: true })).close();
    return [];
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return [`the last changes, which are in ${CHANGES_FILE} only: ${error.message}`];
  }
}

/** For the name of a file. */
export function timestamp(now: Date): string {
  return now.toISOString().replaceAll(':', '-');
}

/**
 * Puts a closed database in the place of the one of a directory.
 * @returns `copies` if there was one, which is copied there before
 */
export async function replaceSqlite(directory: string, database: string, copies: string): Promise<string | undefined> {
  const existing = SQLITE_FILES.filter((name) => existsSync(join(directory, name)));
  if (existing.length > 0) await mkdir(copies, { recursive: true, mode: 0o700 });
  for (const name of existing) await cp(join(directory, name), join(copies, name));
  if (existing.length > 0) await syncDirectory(copies);
  // The log belongs to the file that is replaced.
  for (const name of existing) if (name !== SQLITE_FILE) await rm(join(directory, name), { force: true });
  await rename(database, join(directory, SQLITE_FILE));
  await syncDirectory(directory);
  return existing.length > 0 ? copies : undefined;
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
