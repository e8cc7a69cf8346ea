/** Writes an error as the Responses API reports it inside a stream. https://www.openresponses.org, "Errors" */
import type { LLMError } from '../../../../domain/errors/LLMErrors';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

/** By HTTP status; every other status is a `server_error`. */
const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  401: 'authentication_error',
  402: 'invalid_request',
  403: 'permission_error',
  404: 'not_found',
  409: 'invalid_request',
  413: 'invalid_request',
  422: 'invalid_request',
  429: 'too_many_requests',
  502: 'model_error',
  503: 'model_error',
  504: 'model_error',
};

export function responsesStreamError(error: LLMError): JsonObject {
  return {
    type: TYPES[error.httpStatus] ?? 'server_error',
    code: error.code,
    message: error.message,
    param: error.path ?? null,
  };
}
