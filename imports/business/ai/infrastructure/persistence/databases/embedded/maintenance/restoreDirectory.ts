/** Puts the files of a backup into a data directory that no process uses. */
import { cp, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreError } from '../../databaseErrors';
import { DATA_EXTENSION, TEXTS_EXTENSION } from '../dataFiles';
import { lockDataDirectory } from '../EmbeddedDatabase';
import { SIZES_FILE, writeFileSizes } from '../FileSizes';
import { inspectSqlite } from '../../sqlite/maintenance/inspectSqlite';
import { hasSqliteFile } from '../../sqlite/maintenance/readSqlite';
import { SQLITE_FILES } from '../../sqlite/SqliteDatabase';
import { inspectDirectory, isDamaged } from './inspectDirectory';
import { timestamp } from './repairDirectory';

export interface RestoreOptions {
  /** Replaces data files that are there. */
  readonly overwrite: boolean;
  /** Names the directory of what was there before. */
  readonly now: Date;
}

export interface Restoration {
  readonly files: number;
  /** Where the data files are that were there before. */
  readonly replaced: string | undefined;
}

/**
 * @param backup a directory by `backUpDirectory`, or a copy of a data directory that was closed
 */
export async function restoreDirectory(
  backup: string,
  directory: string,
  { overwrite, now }: RestoreOptions,
): Promise<Restoration> {
  if (backup === directory) throw new StoreError(`${backup} is the data directory itself.`);
  const report = await inspectDirectory(backup);
  const isSqlite = hasSqliteFile(backup);
  if (isDamaged(report) || (isSqlite && (await inspectSqlite(backup)).problems.length > 0))
    throw new StoreError(`The backup ${backup} is damaged. See \`check --dir ${backup}\`.`);
  if (report.files.length === 0 && !isSqlite) throw new StoreError(`${backup} contains no data files.`);
  const lock = await lockDataDirectory(directory);
  try {
    const existing = await dataIn(directory);
    if (existing.length > 0 && !overwrite)
      throw new StoreError(
        `${directory} contains data. Name an empty directory, or move what is there aside with --overwrite.`,
      );
    const staging = join(directory, `restoring-${timestamp(now)}`);
    await mkdir(staging, { mode: 0o700 });
    try {
      for (const name of await dataIn(backup)) await cp(join(backup, name), join(staging, name), { recursive: true });
      if (!isSqlite) await writeFileSizes(staging);
    } catch (error) {
      await rm(staging, { recursive: true });
      throw error;
    }
    const replaced = existing.length === 0 ? undefined : join(directory, `before-restore-${timestamp(now)}`);
    // The sizes come first: if this is interrupted, the next start misses the other files.
    if (replaced !== undefined) await moveAll(existing.filter(isSizes), directory, replaced);
    if (!isSqlite) await moveAll([SIZES_FILE], staging, directory);
    if (replaced !== undefined) await moveAll(existing.filter(isContent), directory, replaced);
    await moveAll((await dataIn(staging)).filter(isContent), staging, directory);
    await rm(staging, { recursive: true });
    return { files: isSqlite ? 1 : report.files.length, replaced };
  } finally {
    await lock.release();
  }
}

async function dataIn(directory: string): Promise<readonly string[]> {
  return (await readdir(directory)).filter((name) => isContent(name) || isSizes(name));
}

function isContent(name: string): boolean {
  return name.endsWith(DATA_EXTENSION) || name.endsWith(TEXTS_EXTENSION) || SQLITE_FILES.some((file) => file === name);
}

function isSizes(name: string): boolean {
  return name === SIZES_FILE;
}

async function moveAll(names: readonly string[], from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const name of names) await rename(join(from, name), join(to, name));
}
