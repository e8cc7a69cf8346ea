/** What goes wrong in a database, in the words of this module: a client hears a code, the cause stays on the server. */
import {
  ConflictError,
  isLLMError,
  LLMConnectionError,
  LLMInvalidRequestError,
  LLMServerError,
  LLMTimeoutError,
} from '../../../domain/errors/LLMErrors';
import type { LLMError, LLMErrorDetails } from '../../../domain/errors/LLMErrors';

/** The store can't do its work any more. Sending the request again changes nothing. */
export class StoreError extends LLMServerError {
  constructor(message: string, details: LLMErrorDetails = {}) {
    super(message, { retryable: false, ...details });
  }
}

/**
 * MongoDB's error codes (src/mongo/base/error_codes.yml) that mean that the request does not fit the document or
 * the collection. BadValue, FailedToParse, TypeMismatch, PathNotViable, ConflictingUpdateOperators,
 * DollarPrefixedFieldName, EmptyFieldName, DottedFieldName, ImmutableField, CannotCreateIndex,
 * IndexOptionsConflict, IndexKeySpecsConflict, BSONObjectTooLarge, and "document too large".
 */
const INVALID = new Set([2, 9, 14, 28, 40, 52, 56, 57, 66, 67, 85, 86, 10334, 17280, 17419]);
/** DuplicateKey, and two older ones. */
const DUPLICATE = new Set([11000, 11001, 12582]);
/** MaxTimeMSExpired, NetworkTimeout, ExceededTimeLimit. */
const TIMEOUT = new Set([50, 89, 262]);

/**
 * The error of the driver, or of Meteor's layer on it, as one of ours. By code and name, since Meteor brings a
 * driver of its own whose classes are others.
 * @param collection its name, which is all that the message says
 */
export function storeError(cause: unknown, collection: string): LLMError {
  if (isLLMError(cause)) return cause;
  const { code, name, message } = describe(cause);
  // Meteor's createIndexAsync keeps nothing but the message of the driver's error.
  if (DUPLICATE.has(code) || message.includes('E11000'))
    return new ConflictError(`a key is taken in ${collection}`, { cause });
  if (INVALID.has(code) || message.includes('ndex already exists'))
    return new LLMInvalidRequestError(`${collection} can't be changed in this way`, { cause });
  if (TIMEOUT.has(code) || name === 'MongoNetworkTimeoutError')
    return new LLMTimeoutError(`${collection} did not answer in time`, { cause });
  // A server that goes away in the middle of an answer is told in words of the socket's.
  if (CONNECTION.has(name) || /\b(?:ECONN\w+|EPIPE|sockets?|connections?|pool)\b/i.test(message))
    return new LLMConnectionError(`${collection} can't be reached`, { cause });
  return new StoreError(`${collection} failed`, { cause });
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
