/** One way from a vendor's error answer to the error family. */
import type { LLMError, LLMErrorDetails } from './LLMErrors';
import { LLMInvalidRequestError } from './LLMErrors';
import { retryHint } from './retryHint';
import { safeJson, safeMessage } from './safeText';
import { readVendorErrorBody } from './vendorErrorBody';
import { classifyVendorError } from './vendorErrorTable';
import type { LLMResponse } from '../types/ResponsesAPITypes';

/** What is known of a vendor's error: an HTTP answer, an error event in a stream, or a failed response's `error`. */
export interface VendorErrorFacts {
  readonly vendor: string;
  /** HTTP status; absent for an error inside a 200 stream or body. */
  readonly status?: number;
  /** The parsed JSON body, an error event's payload, or plain text. */
  readonly body: unknown;
  readonly header?: (name: string) => string | null | undefined;
  readonly requestId?: string;
  /** What the vendor's own clients are to see of the answer's headers. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly response?: LLMResponse;
  readonly cause?: unknown;
}

/** Headers in which vendors name the request: OpenAI, xAI and Groq; Anthropic; Azure. */
export const REQUEST_ID_HEADERS = ['x-request-id', 'request-id', 'apim-request-id', 'x-ms-request-id'] as const;

/**
 * The message is the vendor's own, safe to show and at most 1,000 characters; `vendorCode` is verbatim. `cause` is
 * the given one, or what the model wrote where a vendor refused to parse its call.
 */
export function vendorError(facts: VendorErrorFacts): LLMError {
  const body = readVendorErrorBody(facts.body);
  const status = isErrorStatus(facts.status) ? facts.status : body.status;
  const said = safeMessage(body.message);
  const ErrorClass = classifyVendorError(status, body.words, said);
  const requestId = facts.requestId ?? requestIdIn(facts.header) ?? body.requestId;
  const retryAfterMs = retryHint(facts.header, body.details, said);
  const vendorBody = body.whole && safeJson(body.whole);
  const cause =
    facts.cause ?? (body.failedGeneration === undefined ? undefined : { failed_generation: body.failedGeneration });
  const details: LLMErrorDetails = {
    vendor: facts.vendor,
    ...(status === undefined ? {} : { status }),
    ...(body.code === undefined ? {} : { vendorCode: body.code }),
    ...(vendorBody === undefined ? {} : { vendorBody }),
    ...(requestId === undefined ? {} : { requestId }),
    ...(facts.headers === undefined ? {} : { vendorHeaders: facts.headers }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(cause === undefined ? {} : { cause }),
    ...(facts.response === undefined ? {} : { response: facts.response }),
    ...(saysNoRetry(facts, said) ? { retryable: false } : {}),
    ...(ErrorClass === LLMInvalidRequestError && body.param !== undefined ? { path: body.param } : {}),
  };
  return new ErrorClass(
    withFailedGeneration(said, body.failedGeneration) ||
      `${facts.vendor} answered with status ${status ?? 200} and no message`,
    details,
  );
}

function isErrorStatus(status: number | undefined): status is number {
  return status !== undefined && (status < 200 || status >= 300);
}

function requestIdIn(header: VendorErrorFacts['header']): string | undefined {
  if (header === undefined) return undefined;
  for (const name of REQUEST_ID_HEADERS) {
    const id = header(name);
    if (id) return id;
  }
  return undefined;
}

/**
 * Anthropic's `x-should-retry: false`, a redirect, and a request that is larger than the whole minute's allowance:
 * the same again is refused again.
 */
function saysNoRetry(facts: VendorErrorFacts, message: string): boolean {
  if (facts.header?.('x-should-retry') === 'false') return true;
  if (facts.status !== undefined && facts.status >= 300 && facts.status < 400) return true;
  return /^request too large\b/i.test(message);
}

/** Groq refuses a call that it can't parse and hands over what the model wrote; people and loops need to see it. */
function withFailedGeneration(message: string, failedGeneration: string | undefined): string {
  return failedGeneration === undefined ? message : `${message}\nThe model wrote: ${safeMessage(failedGeneration)}`;
}
