import type { FailedAttempt, LLMResponse } from '../../../domain/types/ResponsesAPITypes';

/**
 * @param response of a failed call's error. If the fallbacks failed as well, the error is that of the requested
 *   provider, which was reported as an attempt.
 * @returns undefined for a response that is billed as one of the attempts
 */
export function unreportedResponse(
  response: LLMResponse | undefined,
  attempts: readonly FailedAttempt[],
): LLMResponse | undefined {
  return attempts.some(({ usage }) => usage !== undefined && usage === response?.usage) ? undefined : response;
}
