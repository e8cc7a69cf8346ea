/**
 * Lets one process at a time use a data directory. SQLite locks a file of its own, beside the database, which other
 * processes may read meanwhile. The operating system releases the lock when the process ends, however it ends.
 */
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ConflictError } from '../../business/ai/domain/errors/LLMErrors';
import { loadSqlite } from './nodeSqlite';
import { isBusyError, toSqliteError } from './sqliteErrors';

/** No other code opens this file: whoever closes it in this process would release the lock. */
export const LOCK_FILE = 'lock.sqlite';

/** Another process, or this one, is using the data directory. */
export class DirectoryLockedError extends ConflictError {
  readonly directory: string;

  constructor(directory: string) {
    super(
      `The data directory ${directory} is in use by another process. Stop it, set DATA_DIR, or use MongoDB for ` +
        'several processes.',
    );
    this.directory = directory;
  }
}

export interface DirectoryLock {
  release(): void;
}

/**
 * @param directory created if it doesn't exist, readable by its owner only
 * @throws DirectoryLockedError at once while another process uses it, StoreError, StorageFullError
 */
export function lockDataDirectory(directory: string): DirectoryLock {
  const path = join(directory, LOCK_FILE);
  const { DatabaseSync } = loadSqlite();
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const connection = new DatabaseSync(path);
    try {
      connection.exec(
        'PRAGMA busy_timeout = 0; PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE;',
      );
      chmodSync(path, 0o600);
    } catch (error) {
      connection.close();
      throw error;
    }
    return { release: () => connection.close() };
  } catch (cause) {
    if (isBusyError(cause)) throw new DirectoryLockedError(directory);
    throw toSqliteError(`The data directory ${directory} cannot be used`, path, cause);
  }
}
