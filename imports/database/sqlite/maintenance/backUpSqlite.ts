/**
 * Copies a database as it is at one moment, also while a server writes to it. SQLite's online backup would begin anew
 * with each change by another process; `VACUUM INTO` reads one state of the file.
 */
import { existsSync } from 'node:fs';
import { cp, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { StoreError } from '../../databaseErrors';
import { CHANGES_FILE, openSqliteFile, SQLITE_FILE } from '../openSqliteFile';
import { syncDirectory } from '../syncDirectory';
import { inspectSqlite } from './inspectSqlite';
import { readSqlite } from './readSqlite';

/**
 * @param target a directory that doesn't exist yet; it appears when it is complete
 * @returns the number of documents
 * @throws StoreError, StorageFullError; also for a damaged database, of which no backup is made
 */
export async function backUpSqlite(directory: string, target: string): Promise<number> {
  if (existsSync(target)) throw new StoreError(`${target} exists already. Name a new directory.`);
  await mkdir(dirname(target), { recursive: true });
  const partial = `${target}.partial`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { mode: 0o700 });
  try {
    const copy = join(partial, SQLITE_FILE);
    await (await open(copy, 'w', 0o600)).close();
    // The log is copied first: a state that is later than the log has all of it.
    if (existsSync(join(directory, CHANGES_FILE))) await cp(join(directory, CHANGES_FILE), join(partial, CHANGES_FILE));
    await readSqlite(directory, (file) => Promise.resolve(file.all('VACUUM INTO ?', [copy])));
    await (await openSqliteFile(copy, { isLogged: true })).close();
    const { collections, problems } = await inspectSqlite(partial);
    if (problems[0] !== undefined) throw new StoreError(`${directory} is damaged: ${problems[0]}`);
    const handle = await open(copy, 'r+');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(partial, target);
    await syncDirectory(dirname(target));
    return collections.reduce((sum, { documents }) => sum + documents, 0);
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw error;
  }
}
