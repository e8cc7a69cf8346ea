/**
 * The database of plain Node without a database server, where Node has SQLite: one file, in a directory that one
 * process has to itself.
 */
import { constants } from 'node:fs';
import { access, chmod, open, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { DocumentCollection, StoredDocument } from '../../../../domain/interfaces/DocumentCollection';
import { StoreError } from '../databaseErrors';
import { checkCollectionName } from '../DocumentDatabase';
import type { DocumentDatabase } from '../DocumentDatabase';
import type { DirectoryLock } from '../embedded/DirectoryLock';
import { lockDataDirectory } from '../embedded/EmbeddedDatabase';
import { loadSqlite } from './nodeSqlite';
import type { NodeSqlite } from './nodeSqlite';
import { SqliteCollection } from './SqliteCollection';
import { toSqliteError } from './sqliteErrors';
import { SqliteFile } from './SqliteFile';

/** In the data directory. */
export const SQLITE_FILE = 'bolide.sqlite';
/** With the log of changes, and the index of the log. */
export const SQLITE_FILES = [SQLITE_FILE, `${SQLITE_FILE}-wal`, `${SQLITE_FILE}-shm`] as const;
/** "Bolide" in the file's header, and the version of what is in it. */
const APPLICATION_ID = 0x424f4c49;
const FORMAT = 1;
/**
 * Bytes of a page of a new file. Each transaction writes the pages that it has changed whole, and most of its changes
 * are to short entries of indexes.
 */
const PAGE_SIZE = 2_048;
/**
 * Pages in the log of changes until they are written to the file: 16 MB, so that a page that changes often is written
 * once for many times.
 */
const LOG_PAGES = 8_192;

export interface SqliteDatabaseOptions {
  /** Created if it doesn't exist, readable by its owner only. */
  readonly directory: string;
  /** Milliseconds between scans for expired documents. Default: a minute, as in MongoDB. */
  readonly expireEvery?: number;
  /** Milliseconds between signs of life for processes in other containers or on other hosts. Default: two seconds. */
  readonly heartbeatEvery?: number;
}

/**
 * Locks the directory and opens its file. Acknowledged writes survive `kill -9` of this process. When they reach the
 * disk is up to the operating system; a power failure may take back the last of them, but never a part of one.
 * @throws DirectoryLockedError while another process uses the directory, CorruptDataFileError, StoreError for an
 *   unusable directory or a Node without SQLite, StorageFullError
 */
export async function openSqliteDatabase(options: SqliteDatabaseOptions): Promise<SqliteDatabase> {
  const directory = resolve(options.directory);
  const sqlite = loadSqlite(`The database ${join(directory, SQLITE_FILE)}`);
  const lock = await lockDataDirectory(directory, options.heartbeatEvery);
  try {
    const path = join(directory, SQLITE_FILE);
    const file = await openSqliteFile(sqlite, path, () => lock.verify());
    return new SqliteDatabase(file, lock, options);
  } catch (cause) {
    await lock.release();
    throw toSqliteError(`The data directory ${directory} cannot be opened`, join(directory, SQLITE_FILE), cause);
  }
}

export class SqliteDatabase implements DocumentDatabase {
  readonly isExclusive = true;
  private readonly file: SqliteFile;
  private readonly lock: DirectoryLock;
  private readonly collections = new Map<string, SqliteCollection<StoredDocument>>();
  private readonly timer: NodeJS.Timeout;
  private closing: Promise<void> | undefined;

  /** @param lock released by `close` */
  constructor(file: SqliteFile, lock: DirectoryLock, { expireEvery = 60_000 }: SqliteDatabaseOptions) {
    this.file = file;
    this.lock = lock;
    this.timer = setInterval(() => {
      // A failed write also fails the next operation.
      this.removeExpired().catch((error: unknown) =>
        process.emitWarning(error instanceof Error ? error : String(error)),
      );
    }, expireEvery);
    this.timer.unref();
  }

  collection<T extends StoredDocument>(name: string): DocumentCollection<T> {
    checkCollectionName(name);
    if (this.closing !== undefined) throw new StoreError('The database is closed.');
    const collection = this.collections.get(name) ?? new SqliteCollection<StoredDocument>(this.file, name);
    this.collections.set(name, collection);
    // Every user of a name agrees on its type of document.
    return collection as DocumentCollection<StoredDocument> as DocumentCollection<T>;
  }

  /** What is deleted is overwritten in the file at once, and is left in its log until that is emptied. */
  async purge(): Promise<void> {
    for (let attempt = 0; attempt < PURGE_ATTEMPTS; attempt += 1) {
      if (this.file.emptyLog()) return;
      // Another process is reading, such as a backup. Nothing tells when it has ended.
      await pause(PURGE_PAUSE_MS, undefined, { ref: false });
    }
    throw new StoreError(
      `What was deleted is still in ${this.file.path}-wal, because another program is reading the database.`,
    );
  }

  close(): Promise<void> {
    this.closing ??= this.shutDown();
    return this.closing;
  }

  private async shutDown(): Promise<void> {
    clearInterval(this.timer);
    try {
      await this.file.close();
    } finally {
      await this.lock.release();
    }
  }

  private async removeExpired(): Promise<void> {
    for (const collection of this.collections.values()) await collection.removeExpired(Date.now());
  }
}

const PURGE_ATTEMPTS = 300;
const PURGE_PAUSE_MS = 100;

/** `path`: created if it does not exist. @throws StoreError */
export async function openSqliteFile(
  sqlite: NodeSqlite,
  path: string,
  verify: () => Promise<void>,
): Promise<SqliteFile> {
  // SQLite gives its other files the permissions of this one.
  await (await open(path, 'a', 0o600)).close();
  await chmod(path, 0o600);
  await access(path, constants.R_OK | constants.W_OK);
  const connection = new sqlite.DatabaseSync(path);
  try {
    const read = (pragma: string): unknown => Object.values(connection.prepare(`PRAGMA ${pragma}`).get() ?? {})[0];
    if (Number(read('page_count')) > 0 && read('application_id') !== APPLICATION_ID)
      throw new StoreError(`${path} is a database of another program. Set DATA_DIR to another directory.`);
    const format = Number(read('user_version'));
    if (format > FORMAT)
      throw new StoreError(`${path} was written by a newer version of this program. Use that version.`);
    connection.exec(`PRAGMA page_size = ${PAGE_SIZE};`);
    if (read('journal_mode = WAL') !== 'wal')
      throw new StoreError(
        `The file system of ${path} lacks the shared memory that SQLite needs. Set DATA_DIR to a directory on a local ` +
          'disk, or DATA_ENGINE to nedb.',
      );
    connection.exec(`
      PRAGMA synchronous = NORMAL;
      PRAGMA wal_autocheckpoint = ${LOG_PAGES};
      PRAGMA secure_delete = ON;
      PRAGMA busy_timeout = 0;
      PRAGMA cache_size = -32768;
      PRAGMA temp_store = MEMORY;`);
    if (format === 0) connection.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${FORMAT};`);
  } catch (error) {
    connection.close();
    // Otherwise, it would choose the engine of the next start.
    if ((await stat(path)).size === 0) await rm(path);
    throw error;
  }
  return new SqliteFile(path, connection, verify);
}
