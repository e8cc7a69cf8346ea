/** Writes an error as a chunk of a chat completion stream. https://platform.openai.com/docs/guides/error-codes */
import type { LLMError } from '../../../../domain/errors/LLMErrors';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

/** By HTTP status; every other status is a `server_error`. */
const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'invalid_request_error',
  403: 'permission_error',
  404: 'invalid_request_error',
  409: 'invalid_request_error',
  413: 'invalid_request_error',
  422: 'invalid_request_error',
  429: 'rate_limit_error',
};

export function chatStreamError(error: LLMError): JsonObject {
  return {
    error: {
      message: error.message,
      type: TYPES[error.httpStatus] ?? 'server_error',
      param: error.path ?? null,
      code: error.code,
    },
  };
}
