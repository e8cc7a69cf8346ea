/** Writes an error as the `error` event of a Messages stream. https://platform.claude.com/docs/en/api/errors */
import type { LLMError } from '../../../../domain/errors/LLMErrors';
import { omitUndefined } from '../../../../domain/util/omitUndefined';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

/** By HTTP status; every other status is an `api_error`. */
const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'invalid_request_error',
  413: 'request_too_large',
  422: 'invalid_request_error',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
};

export function anthropicStreamError(error: LLMError): JsonObject {
  return omitUndefined({
    type: 'error',
    error: { type: TYPES[error.httpStatus] ?? 'api_error', message: error.message },
    request_id: error.requestId,
  });
}
