/**
 * The database of plain Node without a database server: one file of SQLite, in a directory that one process has to
 * itself.
 */
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { DocumentCollection, StoredDocument } from '../DocumentCollection';
import type { LLMError } from '../../business/ai/domain/errors/LLMErrors';
import { StoreError } from '../databaseErrors';
import { checkCollectionName } from '../DocumentDatabase';
import type { DocumentDatabase } from '../DocumentDatabase';
import { LOCK_FILE, lockDataDirectory } from './lockDataDirectory';
import type { DirectoryLock } from './lockDataDirectory';
import { openSqliteFile, SQLITE_FILE } from './openSqliteFile';
import { SqliteCollection } from './SqliteCollection';
import { toSqliteError } from './sqliteErrors';
import { warn } from './SqliteFile';
import type { SqliteFile } from './SqliteFile';

export interface SqliteDatabaseOptions {
  /** Created if it doesn't exist, readable by its owner only. */
  readonly directory: string;
  /** Milliseconds between scans for expired documents. Default: a minute, as in MongoDB. */
  readonly expireEvery?: number;
}

/**
 * Locks the directory and opens its file. Acknowledged writes survive `kill -9` of this process. When they reach the
 * disk is up to the operating system; a power failure may take back the last of them, but never a part of one.
 * @throws DirectoryLockedError while another process uses the directory, CorruptDataFileError, StoreError for an
 *   unusable directory, StorageFullError
 */
export async function openSqliteDatabase(options: SqliteDatabaseOptions): Promise<SqliteDatabase> {
  const directory = resolve(options.directory);
  const path = join(directory, SQLITE_FILE);
  const lock = lockDataDirectory(directory);
  try {
    return new SqliteDatabase(await openSqliteFile(path, { isLogged: true }), lock, options);
  } catch (cause) {
    lock.release();
    throw toSqliteError(`The data directory ${directory} cannot be opened`, path, cause);
  }
}

export class SqliteDatabase implements DocumentDatabase {
  readonly isExclusive = true;
  private readonly file: SqliteFile;
  private readonly lock: DirectoryLock;
  private readonly collections = new Map<string, SqliteCollection<StoredDocument>>();
  private readonly timer: NodeJS.Timeout;
  private readonly watch: NodeJS.Timeout;
  private sweeping = Promise.resolve();
  private closing: Promise<void> | undefined;

  /** @param lock released by `close` */
  constructor(file: SqliteFile, lock: DirectoryLock, { directory, expireEvery = 60_000 }: SqliteDatabaseOptions) {
    this.file = file;
    this.lock = lock;
    this.timer = setInterval(() => {
      // A failed write also fails the next operation.
      this.sweeping = this.removeExpired().catch(warn);
    }, expireEvery);
    this.timer.unref();
    const files = [SQLITE_FILE, LOCK_FILE].map((name) => join(resolve(directory), name));
    const inodes = files.map(inodeOf);
    this.watch = setInterval(() => {
      try {
        const path = files.find((each, at) => inodeOf(each) !== inodes[at]);
        if (path === undefined) file.checkState();
        else file.lose(`${path} was removed, moved or replaced while this process used it`);
      } catch {
        // Whether it is there cannot be told, such as without permission. Operations say so.
      }
    }, WATCH_EVERY_MS);
    this.watch.unref();
  }

  get lost(): Promise<LLMError> {
    return this.file.failed;
  }

  collection<T extends StoredDocument>(name: string): DocumentCollection<T> {
    checkCollectionName(name);
    if (this.closing !== undefined) throw new StoreError('The database is closed.');
    const collection = this.collections.get(name) ?? new SqliteCollection<StoredDocument>(this.file, name);
    this.collections.set(name, collection);
    // Every user of a name agrees on its type of document.
    return collection as DocumentCollection<StoredDocument> as DocumentCollection<T>;
  }

  checkRoom(): Promise<void> {
    return this.file.checkRoom();
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
    clearInterval(this.watch);
    try {
      await this.sweeping;
      await this.file.close();
    } finally {
      this.lock.release();
    }
  }

  private async removeExpired(): Promise<void> {
    for (const collection of this.collections.values())
      if (this.closing === undefined) await collection.removeExpired(Date.now());
  }
}

/**
 * Tells a file from another one under its name, as SQLite does for its journals. While this process has it open, its
 * number is not given to another one.
 */
function inodeOf(path: string): bigint | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
}

/** Milliseconds between two looks at whether the directory is still this process's. */
const WATCH_EVERY_MS = 1_000;
const PURGE_ATTEMPTS = 300;
const PURGE_PAUSE_MS = 100;
