/** Turns an error into the status, body and headers of the API that the client speaks. */
import type { ErrorCode, LLMError } from '../../business/ai/domain/errors/LLMErrors';
import type { JsonObject, ServedWire } from '../../business/ai/domain/types/VendorTypes';
import { isStoreOutage } from '../../business/ai/domain/errors/LLMErrors';
import { isObject } from '../../business/ai/domain/util/json';
import { ObjectNotFoundError } from '../../business/ai/domain/errors/ObjectNotFoundError';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import { HttpError } from './HttpError';

export interface ErrorResponse {
  readonly status: number;
  readonly body: JsonObject;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * `app` is this app's own API, which the dashboard uses; `ai_sdk` is for `useChat`, which shows the body to people;
 * `mcp` has bodies of JSON-RPC.
 */
export type ApiName = ServedWire | 'app' | 'ai_sdk' | 'mcp';

export interface ErrorContext {
  readonly api: ApiName;
  readonly requestId: string;
  /** The provider speaks the client's API, so its own status and code mean the same to the client. */
  readonly isSameApi?: boolean;
  /** Milliseconds. The failed call was repeated here, with pauses up to this long. */
  readonly retriedWithinMs?: number;
}

/**
 * @returns a response that reveals only the error's code, message and path; and the vendor's own body and headers, if
 *   the vendor speaks the client's API
 */
export function errorResponse(error: LLMError, given: ErrorContext): ErrorResponse {
  const isFromVendor = given.isSameApi === true && error.status !== undefined;
  const context = isFromVendor && error.requestId !== undefined ? { ...given, requestId: error.requestId } : given;
  const status = statusOf(error, context);
  const body = BODIES[context.api](error, status, context);
  return {
    status,
    body: isFromVendor ? (mergeVendorBody(error, body, context.api) ?? body) : body,
    headers: {
      ...headersOf(error, status),
      ...(isFromVendor ? error.vendorHeaders : {}),
      ...(wasRetried(error, given) ? NO_RETRY : {}),
      ...requestIdHeaders(context.requestId),
    },
  };
}

/** The client's retries would multiply with ours. A vendor that asks for a longer pause was not retried here. */
function wasRetried(error: LLMError, { retriedWithinMs }: ErrorContext): boolean {
  const { retryAfterMs = 0 } = error;
  return retriedWithinMs !== undefined && !isStoreOutage(error) && retryAfterMs <= retriedWithinMs;
}

/** Read by OpenAI's and Anthropic's SDKs. */
const NO_RETRY = { 'x-should-retry': 'false' } as const;

/** OpenAI's SDK reads the first header, Anthropic's the second. */
export function requestIdHeaders(requestId: string): Readonly<Record<string, string>> {
  return { 'x-request-id': requestId, 'request-id': requestId };
}

/** The vendor's own body, with missing fields filled in. Open Responses prescribes the error types itself. */
function mergeVendorBody({ vendorBody }: LLMError, ours: JsonObject, api: ApiName): JsonObject | undefined {
  if (
    vendorBody === undefined ||
    !isObject(vendorBody.error) ||
    !isObject(ours.error) ||
    typeof vendorBody.error.message !== 'string'
  )
    return undefined;
  return api === 'responses' ? undefined : { ...ours, ...vendorBody, error: { ...ours.error, ...vendorBody.error } };
}

/** Statuses of an API that differ from the error's default. */
const OWN_STATUSES: Readonly<Record<ApiName, Partial<Record<ErrorCode, number>>>> = {
  app: {},
  ai_sdk: {},
  mcp: {},
  responses: { 'context-too-long': 400 },
  chat_completions: { 'context-too-long': 400 },
  // https://platform.claude.com/docs/en/api/errors
  anthropic_messages: {
    'context-too-long': 400,
    overloaded: 529,
    'vendor-error': 500,
    'connection-failed': 500,
    'stream-broken': 500,
  },
  // https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto
  gemini: { 'context-too-long': 400, 'vendor-error': 500, 'connection-failed': 503, 'stream-broken': 500 },
};

function statusOf(error: LLMError, { api, isSameApi }: ErrorContext): number {
  if (isSameApi === true && error.status !== undefined && error.status >= 400 && error.status < 600)
    return error.status;
  return OWN_STATUSES[api][error.code] ?? error.httpStatus;
}

/** Errors that would recur are marked as not worth a retry. */
function headersOf(error: LLMError, status: number): Readonly<Record<string, string>> {
  return {
    ...(error instanceof HttpError ? error.headers : {}),
    ...omitUndefined({
      'retry-after': error.retryAfterMs === undefined ? undefined : String(Math.ceil(error.retryAfterMs / 1_000)),
    }),
    ...((status === 402 || status === 429 || status >= 500) && !error.retryable ? NO_RETRY : {}),
  };
}

/** The codes that clients of Anthropic's API tell errors apart by. */
function errorCodeOf(error: LLMError): JsonObject {
  if ((error instanceof HttpError || error instanceof ObjectNotFoundError) && error.errorCode !== undefined)
    return { details: { error_code: error.errorCode } };
  return error.code.startsWith('guardrail-') ? { details: { error_code: openAICode(error) } } : {};
}

type BodyWriter = (error: LLMError, status: number, context: ErrorContext) => JsonObject;

const BODIES: Readonly<Record<ApiName, BodyWriter>> = {
  // The domain has no error code for "not found", so this API adds one.
  app: (error, status) => ({
    error: omitUndefined({
      code: status === 404 && error.code === 'invalid-request' ? 'not-found' : error.code,
      message: error.message,
      path: error.path,
    }),
  }),
  ai_sdk: ({ message }) => ({ error: { message } }),
  // https://www.jsonrpc.org/specification#error_object; an error without an id concerns no request in particular.
  mcp: ({ code, message }, status) => ({
    jsonrpc: '2.0',
    id: null,
    error: { code: status < 500 ? -32_600 : -32_603, message, data: { code } },
  }),
  responses: (error, status, context) =>
    openAIBody(error, isStoreOutage(error) ? 'server_error' : responsesTypeOf(status), context),
  chat_completions: (error, status, context) =>
    openAIBody(error, CHAT_TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'server_error'), context),
  anthropic_messages: (error, status, { requestId }) => ({
    type: 'error',
    error: {
      type: ANTHROPIC_TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error'),
      message: error.message,
      ...errorCodeOf(error),
    },
    request_id: requestId,
  }),
  gemini: (error, status) => ({
    error: {
      code: status,
      message: error.message,
      status: GOOGLE_STATUSES[status] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL'),
    },
  }),
};

function responsesTypeOf(status: number): string {
  return RESPONSES_TYPES[status] ?? (status < 500 ? 'invalid_request' : 'model_error');
}

/** https://www.openresponses.org, "Errors"; the types for 401 and 403 are OpenAI's. */
const RESPONSES_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  404: 'not_found',
  429: 'too_many_requests',
  500: 'server_error',
  507: 'server_error',
};

/** https://platform.openai.com/docs/guides/error-codes */
const CHAT_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  429: 'rate_limit_error',
};

/** https://platform.claude.com/docs/en/api/errors */
const ANTHROPIC_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

/** https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto */
const GOOGLE_STATUSES: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  402: 'RESOURCE_EXHAUSTED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  422: 'FAILED_PRECONDITION',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  501: 'UNIMPLEMENTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

function openAIBody(error: LLMError, type: string, { isSameApi }: ErrorContext): JsonObject {
  const vendorCode = isSameApi === true ? error.vendorCode : undefined;
  return { error: { message: error.message, type, param: paramOf(error), code: vendorCode ?? openAICode(error) } };
}

/** An error of the entire body (an empty path) has no param. */
function paramOf({ code, path }: LLMError): string | null {
  return (path === '' ? undefined : path) ?? PARAM_OF_CODE[code] ?? null;
}

/** Codes of OpenAI's API. Every other code is ours, with underscores. */
const OPENAI_CODES: Partial<Record<ErrorCode, string>> = {
  'auth-failed': 'invalid_api_key',
  'model-not-found': 'model_not_found',
  'context-too-long': 'context_length_exceeded',
  'rate-limited': 'rate_limit_exceeded',
  'quota-exceeded': 'insufficient_quota',
  'content-filtered': 'content_filter',
  'vendor-error': 'server_error',
};

const PARAM_OF_CODE: Partial<Record<ErrorCode, string>> = { 'model-not-found': 'model' };

export function openAICode(error: LLMError): string {
  const { code, vendorCode } = error;
  if (vendorCode !== undefined && OWN_CODES.includes(vendorCode)) return vendorCode;
  return vendorCode === MODEL_NOT_FOUND && error.status === undefined
    ? vendorCode
    : (OPENAI_CODES[code] ?? code.replaceAll('-', '_'));
}

/** OpenAI's own. https://www.openresponses.org: the first tells clients to resend the conversation. */
const OWN_CODES: readonly string[] = ['previous_response_not_found', 'mutually_exclusive_parameters'];
/** The code, with status 403, of a model that the caller's key may not use. */
const MODEL_NOT_FOUND = 'model_not_found';
