/** Puts a backup into a data directory that no process uses. */
import { existsSync } from 'node:fs';
import { cp, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreError } from '../../databaseErrors';
import { lockDataDirectory } from '../lockDataDirectory';
import { openSqliteFile, SQLITE_FILE, SQLITE_FILES } from '../openSqliteFile';
import { inspectSqlite } from './inspectSqlite';
import { hasSqliteFile } from './readSqlite';
import { replaceSqlite, timestamp } from './repairSqlite';

export interface RestoreOptions {
  /** Replaces a database that is there. */
  readonly overwrite: boolean;
  /** Names the directory of what was there before. */
  readonly now: Date;
}

export interface Restoration {
  readonly documents: number;
  /** Where the database is that was there before. */
  readonly replaced: string | undefined;
}

/** @param backup a directory by `backUpSqlite`, or a copy of a data directory that was closed */
export async function restoreSqlite(
  backup: string,
  directory: string,
  { overwrite, now }: RestoreOptions,
): Promise<Restoration> {
  if (backup === directory) throw new StoreError(`${backup} is the data directory itself.`);
  if (!hasSqliteFile(backup)) throw new StoreError(`${backup} contains no database.`);
  const lock = lockDataDirectory(directory);
  const staging = join(directory, `restoring-${timestamp(now)}`);
  try {
    if (hasSqliteFile(directory) && !overwrite)
      throw new StoreError(
        `${directory} contains data. Name an empty directory, or move what is there aside with --overwrite.`,
      );
    await mkdir(staging, { mode: 0o700 });
    for (const name of SQLITE_FILES)
      if (existsSync(join(backup, name))) await cp(join(backup, name), join(staging, name));
    const { collections, problems } = await inspectSqlite(staging);
    if (problems.length > 0) throw new StoreError(`The backup ${backup} is damaged. See \`check --dir ${backup}\`.`);
    // A copy of a directory has its last changes in the log.
    const staged = join(staging, SQLITE_FILE);
    const file = await openSqliteFile(staged, { isLogged: true });
    file.emptyLog();
    await file.close();
    const replaced = await replaceSqlite(directory, staged, join(directory, `before-restore-${timestamp(now)}`));
    return { documents: collections.reduce((sum, { documents }) => sum + documents, 0), replaced };
  } finally {
    await rm(staging, { recursive: true, force: true });
    lock.release();
  }
}
