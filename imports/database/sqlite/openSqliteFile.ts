/** Opens a database file to read and write it. */
import { accessSync, chmodSync, closeSync, constants, openSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { StoreError } from '../databaseErrors';
import { loadSqlite } from './nodeSqlite';
import type { NodeSqlite } from './nodeSqlite';
import { ChangeLog } from './ChangeLog';
import { SqliteFile, STATE_TABLE } from './SqliteFile';

/** In the data directory. */
export const SQLITE_FILE = 'bolide.sqlite';
/** The log of changes that are not in it yet. */
export const CHANGES_FILE = `${SQLITE_FILE}-changes`;
/** With SQLite's own log, and the index of that. */
export const SQLITE_FILES = [SQLITE_FILE, CHANGES_FILE, `${SQLITE_FILE}-wal`, `${SQLITE_FILE}-shm`] as const;
/** "Bolide" in the file's header, and the version of what is in it. */
const APPLICATION_ID = 0x424f4c49;
const FORMAT = 2;
/** Pages in SQLite's log until they are written to the file: 16 MB. */
const LOG_PAGES = 4_096;
const PAGE_BYTES = 4_096;

export interface SqliteFileOptions {
  /** Changes are logged, so that not each of them is a transaction. For the file of a database that is in use. */
  readonly isLogged?: boolean;
  readonly sqlite?: NodeSqlite;
}

/**
 * @param path created if it does not exist, readable by its owner only
 * @throws StoreError for the file of another program or of a newer version
 */
export async function openSqliteFile(
  path: string,
  { isLogged = false, sqlite = loadSqlite() }: SqliteFileOptions = {},
): Promise<SqliteFile> {
  // SQLite gives its other files the permissions of this one.
  closeSync(openSync(path, 'a', 0o600));
  chmodSync(path, 0o600);
  accessSync(path, constants.R_OK | constants.W_OK);
  const connection = new sqlite.DatabaseSync(path);
  try {
    const read = (pragma: string): unknown => Object.values(connection.prepare(`PRAGMA ${pragma}`).get() ?? {})[0];
    // A start that was interrupted may have left a file without a table.
    const isNew = connection.prepare('SELECT 1 FROM sqlite_master LIMIT 1').get() === undefined;
    if (!isNew && read('application_id') !== APPLICATION_ID)
      throw new StoreError(`${path} is a database of another program. Set DATA_DIR to another directory.`);
    const format = Number(read('user_version'));
    if (format > FORMAT)
      throw new StoreError(`${path} was written by a newer version of this program. Use that version.`);
    // A power failure would take nothing but an empty database.
    if (isNew) connection.exec('PRAGMA synchronous = OFF;');
    if (read('journal_mode = WAL') !== 'wal')
      throw new StoreError(
        `The file system of ${path} lacks the shared memory that SQLite needs. Set DATA_DIR to a directory on a local disk.`,
      );
    if (format !== FORMAT)
      connection.exec(
        `BEGIN; PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${FORMAT}; ${STATE_TABLE}; COMMIT;`,
      );
    connection.exec(`
      PRAGMA synchronous = NORMAL;
      PRAGMA wal_autocheckpoint = ${LOG_PAGES};
      PRAGMA journal_size_limit = ${LOG_PAGES * PAGE_BYTES};
      PRAGMA secure_delete = ON;
      PRAGMA busy_timeout = 0;
      PRAGMA cache_size = -32768;
      PRAGMA temp_store = MEMORY;`);
    // What an open transaction has changed stays in memory: while the disk is full, it can be taken back. SQLite's log
    // is written to the file by another thread, and its size tells when.
    if (isLogged)
      connection.exec(`
        PRAGMA cache_spill = OFF;
        PRAGMA wal_autocheckpoint = 0;
        PRAGMA journal_size_limit = 0;`);
    return new SqliteFile(path, connection, isLogged ? new ChangeLog(`${path}-changes`) : undefined);
  } catch (error) {
    connection.close();
    if (statSync(path).size === 0) await rm(path);
    throw error;
  }
}

/** Removes a closed database, with its log. */
export async function removeSqliteFile(path: string): Promise<void> {
  for (const ending of ['', '-changes', '-wal', '-shm', '-journal']) await rm(path + ending, { force: true });
}
