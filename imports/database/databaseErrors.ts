/** Turns errors of databases into LLMErrors: clients get a code, the cause stays on the server. */
import {
  ConflictError,
  isLLMError,
  LLMConnectionError,
  LLMInvalidRequestError,
  LLMServerError,
  LLMTimeoutError,
} from '../business/ai/domain/errors/LLMErrors';
import type { LLMError, LLMErrorDetails } from '../business/ai/domain/errors/LLMErrors';

/** The database cannot be used any more. Retrying does not help. */
export class StoreError extends LLMServerError {
  constructor(message: string, details: LLMErrorDetails = {}) {
    super(message, { ...details, retryable: details.retryable ?? false });
  }
}

/** The database works, but a document in it does not open. */
export class UnreadableDocumentError extends StoreError {}

/**
 * MongoDB's error codes (src/mongo/base/error_codes.yml) for a request that does not fit the document or the
 * collection: BadValue, FailedToParse, TypeMismatch, PathNotViable, ConflictingUpdateOperators,
 * DollarPrefixedFieldName, EmptyFieldName, DottedFieldName, ImmutableField, CannotCreateIndex,
 * IndexOptionsConflict, IndexKeySpecsConflict, and "document too large" (of keys).
 */
const INVALID = new Set([2, 9, 14, 28, 40, 52, 56, 57, 66, 67, 85, 86, 17280]);
/** BSONObjectTooLarge, and an update whose resulting document would exceed 16 MiB. */
const TOO_LARGE = new Set([10334, 17419]);
/** DuplicateKey, and two older ones. */
const DUPLICATE = new Set([11000, 11001, 12582]);
/** MaxTimeMSExpired, NetworkTimeout, ExceededTimeLimit. */
const TIMEOUT = new Set([50, 89, 262]);
/**
 * A server that shuts down, or is no longer the primary: HostUnreachable, HostNotFound, ShutdownInProgress,
 * PrimarySteppedDown, SocketException, NotWritablePrimary, InterruptedAtShutdown, InterruptedDueToReplStateChange,
 * NotPrimaryNoSecondaryOk, NotPrimaryOrSecondary.
 */
const GONE = new Set([6, 7, 91, 189, 9001, 10107, 11600, 11602, 13435, 13436]);

/**
 * Maps an error of the driver, or of Meteor's layer on top of it. Goes by code and name, since Meteor bundles its own
 * driver with different classes.
 * @param collection its name, the only detail in the message
 */
export function toDatabaseError(cause: unknown, collection: string): LLMError {
  if (isLLMError(cause)) return cause;
  const { code, name, message } = describe(cause);
  // Meteor's createIndexAsync preserves only the message of the driver's error.
  if (DUPLICATE.has(code) || message.includes('E11000'))
    return new ConflictError(`A document with the same key exists in ${collection}.`, { cause });
  if (TOO_LARGE.has(code))
    return new LLMInvalidRequestError(`A document of ${collection} is larger than the database allows (16 MiB).`, {
      cause,
    });
  if (INVALID.has(code) || message.includes('ndex already exists'))
    return new LLMInvalidRequestError(`The database rejected a change to ${collection}.`, { cause });
  if (TIMEOUT.has(code) || name === 'MongoNetworkTimeoutError')
    return new LLMTimeoutError(`${collection} did not respond in time.`, { cause });
  // A server that disappears in the middle of a response causes a plain socket error.
  if (CONNECTION.has(name) || GONE.has(code) || /\b(?:ECONN\w+|EPIPE|sockets?|connections?|pool)\b/i.test(message))
    return new LLMConnectionError(`${collection} cannot be reached.`, { cause });
  return new StoreError(`An operation on ${collection} failed.`, { cause });
}

const CONNECTION = new Set([
  'MongoClientClosedError',
  'MongoExpiredSessionError',
  'MongoNetworkError',
  'MongoNotConnectedError',
  'MongoPoolClearedError',
  'MongoPoolClosedError',
  'MongoServerClosedError',
  'MongoServerSelectionError',
  'MongoTopologyClosedError',
  'MongoWaitQueueTimeoutError',
  'PoolClearedOnNetworkError',
]);

function describe(cause: unknown): { readonly code: number; readonly name: string; readonly message: string } {
  if (!(cause instanceof Error)) return { code: NaN, name: '', message: String(cause) };
  const code: unknown = 'code' in cause ? cause.code : undefined;
  return { code: typeof code === 'number' ? code : NaN, name: cause.name, message: cause.message };
}
