/** Restores an error from its stored code and message. */
import {
  BudgetError,
  ConflictError,
  IllegalTransitionError,
  LLMAbortedError,
  LLMAuthError,
  LLMConnectionError,
  LLMContentFilterError,
  LLMContextLengthError,
  LLMError,
  LLMIncompleteError,
  LLMInvalidRequestError,
  LLMModelNotFoundError,
  LLMOverloadedError,
  LLMPermissionError,
  LLMQuotaError,
  LLMRateLimitError,
  LLMRefusalError,
  LLMServerError,
  LLMStreamError,
  LLMTimeoutError,
  MaxIterationsError,
  MaxTakeoversError,
  StorageFullError,
  StoreUnavailableError,
  ToolLoopError,
  UnsupportedFeatureError,
} from './LLMErrors';
import type { ErrorCode, LLMErrorDetails } from './LLMErrors';
import { omitUndefined } from '../util/omitUndefined';
import type { LLMResponse } from '../types/ResponsesAPITypes';

/** Classes that need nothing but a message. The others need details that are not stored. */
const PLAIN: Readonly<Partial<Record<ErrorCode, new (message: string, details?: LLMErrorDetails) => LLMError>>> = {
  'auth-failed': LLMAuthError,
  'permission-denied': LLMPermissionError,
  'invalid-request': LLMInvalidRequestError,
  'model-not-found': LLMModelNotFoundError,
  'context-too-long': LLMContextLengthError,
  'unsupported-feature': UnsupportedFeatureError,
  'rate-limited': LLMRateLimitError,
  'quota-exceeded': LLMQuotaError,
  overloaded: LLMOverloadedError,
  'vendor-error': LLMServerError,
  'connection-failed': LLMConnectionError,
  timeout: LLMTimeoutError,
  'stream-broken': LLMStreamError,
  refused: LLMRefusalError,
  'content-filtered': LLMContentFilterError,
  aborted: LLMAbortedError,
  'budget-exceeded': BudgetError,
  'max-iterations': MaxIterationsError,
  'tool-loop': ToolLoopError,
  'max-takeovers': MaxTakeoversError,
  'illegal-transition': IllegalTransitionError,
  conflict: ConflictError,
  'storage-full': StorageFullError,
  'store-unavailable': StoreUnavailableError,
};

/** A restored error is not retryable: a repeated request with the same id fails in the same way. */
export function restoreError(code: ErrorCode, message: string, response?: LLMResponse): LLMError {
  const details = omitUndefined({ retryable: false, response });
  if (code === 'incomplete')
    return new LLMIncompleteError(message, { ...details, reason: response?.incomplete_details?.reason ?? 'unknown' });
  const Kind = PLAIN[code];
  return Kind === undefined ? new LLMError(code, message, details) : new Kind(message, details);
}
