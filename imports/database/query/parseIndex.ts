/** Validates indexes against what the `DocumentCollection` port supports. */
import { invalidInput, isPlainObject, splitPath } from './fieldPaths';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';

export interface IndexOptions {
  readonly unique?: boolean;
  readonly sparse?: boolean;
  /** Seconds from the date in the field until the document is removed, give or take a minute. */
  readonly expireAfterSeconds?: number;
}
export interface CheckedIndex {
  readonly keys: Readonly<Record<string, 1 | -1>>;
  readonly options: IndexOptions;
}

/** MongoDB's limit. */
const MAX_EXPIRY_SECONDS = 2 ** 31 - 1;

/**
 * Returns a validated copy.
 * @throws LLMInvalidRequestError
 */
export function parseIndex(keys: Readonly<Record<string, 1 | -1>>, options: IndexOptions = {}): CheckedIndex {
  if (!isPlainObject(keys)) throw invalidIndex('must be a plain object');
  const paths = Object.keys(keys);
  if (paths.length === 0) throw invalidIndex('must name at least one field');
  for (const path of paths) {
    splitPath(path, 'index');
    // The embedded database joins an index's field names with commas.
    if (path.includes(',')) throw invalidIndex(`cannot be on ${path}`);
    if (path === '_id' && path === paths[0]) throw invalidIndex('cannot begin with _id, which has its own');
    const direction: unknown = keys[path];
    if (direction !== 1 && direction !== -1) throw invalidIndex('must have the direction 1 or -1');
  }
  const { unique = false, sparse = false, expireAfterSeconds } = options;
  if (unique && paths.includes('_id')) throw invalidIndex('cannot be unique with _id, which is unique by itself');
  if (expireAfterSeconds !== undefined) {
    if (paths.length > 1) throw invalidIndex('must have a single field if it expires documents');
    if (
      !Number.isSafeInteger(expireAfterSeconds) ||
      expireAfterSeconds < 0 ||
      expireAfterSeconds > MAX_EXPIRY_SECONDS
    ) {
      throw invalidIndex(`must have an expiry of 0 to ${MAX_EXPIRY_SECONDS} seconds`);
    }
  }
  return {
    keys: { ...keys },
    options: omitUndefined({ unique: unique || undefined, sparse: sparse || undefined, expireAfterSeconds }),
  };
}

function invalidIndex(problem: string): Error {
  return invalidInput('index', problem);
}
