/**
 * Writes an error as the last message of a Gemini stream.
 * https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto
 */
import type { LLMError } from '../../../../domain/errors/LLMErrors';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

/** By HTTP status; every other status is `UNKNOWN`. */
const STATUSES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  402: 'RESOURCE_EXHAUSTED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  413: 'INVALID_ARGUMENT',
  422: 'FAILED_PRECONDITION',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  500: 'INTERNAL',
  502: 'INTERNAL',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

export function googleStreamError(error: LLMError): JsonObject {
  return {
    error: { code: error.httpStatus, message: error.message, status: STATUSES[error.httpStatus] ?? 'UNKNOWN' },
  };
}
