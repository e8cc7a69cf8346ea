/**
 * What a client may know of an error: its code, a sentence, and what helps to do better. Causes, stacks and what a
 * vendor said stay here.
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
  /** Where the request is wrong. */
  readonly path?: string;
  /** Why an answer stopped. */
  readonly reason?: string;
  /** Where an answer breaks its schema. */
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
