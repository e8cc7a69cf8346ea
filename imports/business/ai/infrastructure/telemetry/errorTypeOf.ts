import { isLLMError } from '../../domain/errors/LLMErrors';

/** Names the type of an error. `_OTHER` is the conventions' word for an error without a code. */
export function errorTypeOf(error: unknown): string {
  return isLLMError(error) ? error.code : '_OTHER';
}
