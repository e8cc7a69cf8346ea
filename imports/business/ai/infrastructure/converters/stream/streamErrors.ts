/** An error as each scheme says it inside a stream: the code is ours, the word for its kind the scheme's. */
import type { LLMError } from '../../../domain/errors/LLMErrors';
import type { JsonObject } from '../../../domain/types/VendorTypes';

interface Words {
  /** https://platform.openai.com/docs/guides/error-codes */
  readonly openai: string;
  /** https://www.openresponses.org, "Errors" */
  readonly openai_responses: string;
  /** https://platform.claude.com/docs/en/api/errors */
  readonly anthropic: string;
  /** https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto */
  readonly google: string;
}

/** By the HTTP status that tells a client of this app the same thing. */
const WORDS: Readonly<Record<number, Words>> = {
  400: {
    openai: 'invalid_request_error',
    openai_responses: 'invalid_request',
    anthropic: 'invalid_request_error',
    google: 'INVALID_ARGUMENT',
  },
  401: {
    openai: 'authentication_error',
    openai_responses: 'authentication_error',
    anthropic: 'authentication_error',
    google: 'UNAUTHENTICATED',
  },
  402: {
    openai: 'invalid_request_error',
    openai_responses: 'invalid_request',
    anthropic: 'billing_error',
    google: 'RESOURCE_EXHAUSTED',
  },
  403: {
    openai: 'permission_error',
    openai_responses: 'permission_error',
    anthropic: 'permission_error',
    google: 'PERMISSION_DENIED',
  },
  404: {
    openai: 'invalid_request_error',
    openai_responses: 'not_found',
    anthropic: 'not_found_error',
    google: 'NOT_FOUND',
  },
  409: {
    openai: 'invalid_request_error',
    openai_responses: 'invalid_request',
    anthropic: 'invalid_request_error',
    google: 'ABORTED',
  },
  413: {
    openai: 'invalid_request_error',
    openai_responses: 'invalid_request',
    anthropic: 'request_too_large',
    google: 'INVALID_ARGUMENT',
  },
  422: {
    openai: 'invalid_request_error',
    openai_responses: 'invalid_request',
    anthropic: 'invalid_request_error',
    google: 'FAILED_PRECONDITION',
  },
  429: {
    openai: 'rate_limit_error',
    openai_responses: 'too_many_requests',
    anthropic: 'rate_limit_error',
    google: 'RESOURCE_EXHAUSTED',
  },
  499: { openai: 'server_error', openai_responses: 'server_error', anthropic: 'api_error', google: 'CANCELLED' },
  500: { openai: 'server_error', openai_responses: 'server_error', anthropic: 'api_error', google: 'INTERNAL' },
  502: { openai: 'server_error', openai_responses: 'model_error', anthropic: 'api_error', google: 'INTERNAL' },
  503: {
    openai: 'server_error',
    openai_responses: 'model_error',
    anthropic: 'overloaded_error',
    google: 'UNAVAILABLE',
  },
  504: {
    openai: 'server_error',
    openai_responses: 'model_error',
    anthropic: 'timeout_error',
    google: 'DEADLINE_EXCEEDED',
  },
};
const UNKNOWN: Words = {
  openai: 'server_error',
  openai_responses: 'server_error',
  anthropic: 'api_error',
  google: 'UNKNOWN',
};

function wordsFor(error: LLMError): Words {
  return WORDS[error.httpStatus] ?? UNKNOWN;
}

export function openAIError(error: LLMError): JsonObject {
  return {
    error: { message: error.message, type: wordsFor(error).openai, param: error.path ?? null, code: error.code },
  };
}

export function responsesError(error: LLMError): JsonObject {
  return {
    type: wordsFor(error).openai_responses,
    code: error.code,
    message: error.message,
    param: error.path ?? null,
  };
}

export function anthropicError(error: LLMError): JsonObject {
  return {
    type: 'error',
    error: { type: wordsFor(error).anthropic, message: error.message },
    ...(error.requestId === undefined ? {} : { request_id: error.requestId }),
  };
}

export function googleError(error: LLMError): JsonObject {
  return { error: { code: error.httpStatus, message: error.message, status: wordsFor(error).google } };
}
