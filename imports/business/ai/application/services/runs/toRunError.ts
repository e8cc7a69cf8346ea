/** The error that ends a run. */
import { isLLMError, LLMServerError } from '../../../domain/errors/LLMErrors';
import type { LLMError } from '../../../domain/errors/LLMErrors';

export function toRunError(thrown: unknown): LLMError {
  return isLLMError(thrown)
    ? thrown
    : new LLMServerError('The run failed unexpectedly.', { cause: thrown, retryable: false });
}
