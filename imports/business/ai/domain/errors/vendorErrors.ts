/** Converts any error of a vendor to an LLMError. */
import type { LLMError, LLMErrorDetails } from './LLMErrors';
import { LLMInvalidRequestError } from './LLMErrors';
import { retryHint } from './retryHint';
import { safeJson, safeMessage } from './safeText';
import { readVendorErrorBody } from './vendorErrorBody';
import { classifyVendorError } from './vendorErrorTable';
import type { LLMResponse } from '../types/ResponsesAPITypes';

/** What a vendor reported: an HTTP error response, an error event in a stream, or the `error` of a failed response. */
export interface VendorErrorReport {
  readonly vendor: string;
  /** HTTP status; absent for an error inside a 200 stream or body. */
  readonly status?: number | undefined;
  /** The parsed JSON body, an error event's payload, or plain text. */
  readonly body: unknown;
  readonly header?: (name: string) => string | null | undefined;
  readonly requestId?: string | undefined;
  /** Response headers for clients that use the vendor's own API. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly response?: LLMResponse;
  readonly cause?: unknown;
}

/** Headers with the request id: OpenAI, xAI and Groq; Anthropic; Azure; Mistral. */
export const REQUEST_ID_HEADERS = [
  'x-request-id',
  'request-id',
  'apim-request-id',
  'x-ms-request-id',
  'mistral-correlation-id',
] as const;

/**
 * The message is the vendor's own, safe to show and at most 1,000 characters long; `vendorCode` is verbatim. `cause` is
 * the given one, or the tool call that the model wrote and the vendor could not parse.
 */
export function vendorError(report: VendorErrorReport): LLMError {
  const body = readVendorErrorBody(report.body);
  const status = isErrorStatus(report.status) ? report.status : body.status;
  const message = safeMessage(body.message);
  const ErrorClass = classifyVendorError(status, body.codes, message);
  const requestId = report.requestId ?? requestIdIn(report.header) ?? body.requestId;
  const retryAfterMs = retryHint(report.header, body.details, message);
  const vendorBody = body.root && safeJson(body.root);
  const cause =
    report.cause ?? (body.failedGeneration === undefined ? undefined : { failed_generation: body.failedGeneration });
  const details: LLMErrorDetails = {
    vendor: report.vendor,
    status,
    vendorCode: body.code,
    vendorBody,
    requestId,
    vendorHeaders: report.headers,
    retryAfterMs,
    cause,
    response: report.response,
    retryable: forbidsRetry(report, message) ? false : undefined,
    path: ErrorClass === LLMInvalidRequestError && body.param !== undefined ? body.param : undefined,
  };
  return new ErrorClass(
    withFailedGeneration(message, body.failedGeneration) ||
      `${report.vendor} responded with status ${status ?? 200} and no message.`,
    details,
  );
}

function isErrorStatus(status: number | undefined): status is number {
  return status !== undefined && (status < 200 || status >= 300);
}

function requestIdIn(header: VendorErrorReport['header']): string | undefined {
  if (header === undefined) return undefined;
  for (const name of REQUEST_ID_HEADERS) {
    const id = header(name);
    if (id) return id;
  }
  return undefined;
}

/**
 * Whether a retry is pointless: Anthropic's `x-should-retry: false`, a redirect, or a request that is larger than the
 * entire per-minute limit.
 */
function forbidsRetry(report: VendorErrorReport, message: string): boolean {
  if (report.header?.('x-should-retry') === 'false') return true;
  if (report.status !== undefined && report.status >= 300 && report.status < 400) return true;
  return /^request too large\b/i.test(message);
}

/**
 * Groq rejects a tool call that it cannot parse and returns what the model wrote, which people and loops need to see.
 */
function withFailedGeneration(message: string, failedGeneration: string | undefined): string {
  return failedGeneration === undefined ? message : `${message}\nThe model wrote: ${safeMessage(failedGeneration)}`;
}
