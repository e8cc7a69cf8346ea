/** Indexes as the port has them. */
import { LLMInvalidRequestError } from '../../../../domain/errors/LLMErrors';
import { isPlainObject, splitPath } from './fieldPaths';

export interface IndexOptions {
  readonly unique?: boolean;
  readonly sparse?: boolean;
  /** Seconds from the date in the field until the document goes, within a minute or so. */
  readonly expireAfterSeconds?: number;
}
export interface CheckedIndex {
  readonly keys: Readonly<Record<string, 1 | -1>>;
  readonly options: IndexOptions;
}

/** Seconds; MongoDB's limit. */
const MAX_EXPIRY = 2 ** 31 - 1;

/**
 * A checked copy.
 * @throws LLMInvalidRequestError
 */
export function readIndex(keys: Readonly<Record<string, 1 | -1>>, options: IndexOptions = {}): CheckedIndex {
  if (!isPlainObject(keys)) throw refused('is not a plain object');
  const paths = Object.keys(keys);
  if (paths.length === 0) throw refused('names no field');
  for (const path of paths) {
    splitPath(path, 'index');
    // The embedded store joins the names of an index with commas.
    if (path.includes(',') || path === '_id') throw refused(`can't be on ${path}`);
    const direction: unknown = keys[path];
    if (direction !== 1 && direction !== -1) throw refused('has a direction other than 1 and -1');
  }
  const { unique = false, sparse = false, expireAfterSeconds } = options;
  if (expireAfterSeconds !== undefined) {
    if (paths.length > 1) throw refused('expires documents by one field only');
    if (!Number.isSafeInteger(expireAfterSeconds) || expireAfterSeconds < 0 || expireAfterSeconds > MAX_EXPIRY) {
      throw refused(`has an expiry outside 0 to ${MAX_EXPIRY} seconds`);
    }
  }
  return {
    keys: { ...keys },
    options: {
      ...(unique ? { unique } : {}),
      ...(sparse ? { sparse } : {}),
      ...(expireAfterSeconds === undefined ? {} : { expireAfterSeconds }),
    },
  };
}

function refused(why: string): LLMInvalidRequestError {
  return new LLMInvalidRequestError(`index ${why}`, { path: 'index' });
}
