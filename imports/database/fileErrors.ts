/** What the operating system reports about a file, as errors that say what to do. None of them is about lost data. */
import { StorageFullError, isLLMError } from '../business/ai/domain/errors/LLMErrors';
import type { LLMError } from '../business/ai/domain/errors/LLMErrors';
import { StoreError } from './databaseErrors';

const FULL: Readonly<Record<string, string>> = {
  ENOSPC: 'no space is left on the device',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file would exceed the largest allowed size',
};

const REFUSED: Readonly<Record<string, string>> = {
  EACCES: 'this process has no permission. Give the user that it runs as access to the data directory',
  EPERM: 'this process has no permission. Make the user that it runs as the owner of the data directory',
  EROFS: 'the file system is read-only. Mount it writable',
  EMFILE: 'this process has too many files open. Raise its limit (ulimit -n)',
  ENFILE: 'the system has too many files open',
  EIO: 'the device failed. Check it, and the logs of the operating system',
};

/**
 * @param what failed, as the start of a sentence: `/data could not be locked`
 * @returns `cause` itself if it is an LLMError already
 */
export function toFileError(what: string, cause: unknown): LLMError {
  if (isLLMError(cause)) return cause;
  const code = codeOf(cause);
  const full = FULL[code];
  if (full !== undefined)
    return new StorageFullError(`${what}: ${full} (${code}). Make room; what is stored is not affected.`, { cause });
  const refused = REFUSED[code];
  if (refused !== undefined)
    return new StoreError(`${what}: ${refused} (${code}). What is stored is not affected.`, { cause });
  return new StoreError(`${what}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
}

/** A code such as `ENOSPC`; empty for other errors than those of the operating system. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
