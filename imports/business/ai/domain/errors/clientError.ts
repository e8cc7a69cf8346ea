/**
 * The part of an error that clients may see: its code, a safe message, and what helps to fix the request. Causes,
 * stacks and vendor messages stay on the server.
 */
import { LLMIncompleteError, StructuredOutputError } from './LLMErrors';
import type { ErrorCode, LLMError } from './LLMErrors';

export interface ClientError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: ClientErrorDetails;
}

export interface ClientErrorDetails {
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  /** JSON path of the invalid field in the request. */
  readonly path?: string;
  /** Why a response is incomplete. */
  readonly reason?: string;
  /** Where a response violates its schema. */
  readonly violations?: readonly { readonly path: string; readonly message: string }[];
}

export function toClientError(error: LLMError): ClientError {
  const { code, message, retryable, retryAfterMs, path } = error;
  return {
    code,
    message,
    details: {
      retryable,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ...(path === undefined ? {} : { path }),
      ...(error instanceof LLMIncompleteError ? { reason: error.reason } : {}),
      ...(error instanceof StructuredOutputError
        ? { violations: error.violations.map(({ path: at, message: what }) => ({ path: at, message: what })) }
        : {}),
    },
  };
}
