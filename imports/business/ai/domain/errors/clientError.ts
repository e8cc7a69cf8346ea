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
  readonly retryAfterMs?: number | undefined;
  /** JSON path of the invalid field in the request. */
  readonly path?: string | undefined;
  /** Why a response is incomplete. */
  readonly reason?: string | undefined;
  /** Where a response violates its schema. */
  readonly violations?: readonly { readonly path: string; readonly message: string }[] | undefined;
}

export function toClientError(error: LLMError): ClientError {
  const { code, message, retryable, retryAfterMs, path } = error;
  return {
    code,
    message,
    details: {
      retryable,
      retryAfterMs,
      path,
      reason: error instanceof LLMIncompleteError ? error.reason : undefined,
      violations:
        error instanceof StructuredOutputError
          ? error.violations.map(({ path: at, message: what }) => ({ path: at, message: what }))
          : undefined,
    },
  };
}
