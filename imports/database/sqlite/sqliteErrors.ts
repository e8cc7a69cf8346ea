/** What SQLite reports, as errors that say what to do. */
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { isLLMError, StorageFullError } from '../../business/ai/domain/errors/LLMErrors';
import type { LLMError } from '../../business/ai/domain/errors/LLMErrors';
import { CorruptDataFileError } from '../CorruptDataFileError';
import { StoreError } from '../databaseErrors';
import { toFileError } from '../fileErrors';

/** Primary result codes: https://www.sqlite.org/rescode.html */
const [PERM, BUSY, READONLY, IOERR, CORRUPT, FULL, CANTOPEN, CONSTRAINT, NOTADB] = [3, 5, 8, 10, 11, 13, 14, 19, 26];

/**
 * @param what failed, as the start of a sentence
 * @returns `cause` itself if it is an LLMError already
 */
export function toSqliteError(what: string, file: string, cause: unknown): LLMError {
  if (isLLMError(cause)) return cause;
  const result = resultOf(cause);
  switch (result) {
    case undefined:
      return toFileError(what, cause);
    case FULL:
      return storageFull(what, cause);
    case IOERR:
      return hasSpace(file) ? refused(what, 'the device failed. Check it', cause) : storageFull(what, cause);
    case PERM:
    case READONLY:
    case CANTOPEN:
      if (result === CANTOPEN && !hasSpace(file)) return storageFull(what, cause);
      return refused(
        what,
        `this process has no permission to write ${file}, or the file system is read-only. Give the user that it runs ` +
          'as access to the data directory',
        cause,
      );
    case BUSY:
      return refused(what, `another program is writing to ${file}. Stop it`, cause);
    case CORRUPT:
    case NOTADB:
      return new CorruptDataFileError(file, 'is damaged', { cause });
    default:
      return new StoreError(`${what}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

export function isConstraintError(cause: unknown): boolean {
  return resultOf(cause) === CONSTRAINT;
}

export function isBusyError(cause: unknown): boolean {
  return resultOf(cause) === BUSY;
}

function storageFull(what: string, cause: unknown): LLMError {
  return new StorageFullError(
    `${what}: no space is left on the device (SQLITE_FULL). Make room; what is stored is not affected.`,
    { cause },
  );
}

function refused(what: string, problem: string, cause: unknown): LLMError {
  const { message } = cause as Error;
  return new StoreError(`${what}: ${problem} (SQLite: ${message}). What is stored is not affected.`, { cause });
}

/** The primary result code, without the extension; undefined for other errors. */
function resultOf(cause: unknown): number | undefined {
  if (!(cause instanceof Error) || !('errcode' in cause) || typeof cause.errcode !== 'number') return undefined;
  return cause.errcode & 0xff;
}

/** SQLite reports some failures of a full disk as those of the device. */
function hasSpace(file: string): boolean {
  const { bavail, ffree, files } = statfsSync(dirname(file));
  return bavail > 0 && (ffree > 0 || files === 0);
}
