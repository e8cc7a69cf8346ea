/** An error that was written down by its code and message, as an error again. */
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
  ToolLoopError,
  UnsupportedFeatureError,
} from './LLMErrors';
import type { ErrorCode, LLMErrorDetails } from './LLMErrors';
import type { LLMResponse } from '../types/ResponsesAPITypes';

/** Those that are nothing but their code and message; the others need what was not written down. */
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
};

/** The request that it ended is over: sending it again under its id gives the same error. */
export function restoreError(code: ErrorCode, message: string, response?: LLMResponse): LLMError {
  const details = { retryable: false, ...(response === undefined ? {} : { response }) };
  if (code === 'incomplete')
    return new LLMIncompleteError(message, { ...details, reason: response?.incomplete_details?.reason ?? 'unknown' });
  const Kind = PLAIN[code];
  return Kind === undefined ? new LLMError(code, message, details) : new Kind(message, details);
}
