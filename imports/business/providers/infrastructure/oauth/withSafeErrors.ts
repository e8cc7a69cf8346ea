/** Replaces the errors of `oauth4webapi`, which quote entire responses, including tokens. */
import { AuthorizationResponseError, ResponseBodyError, WWWAuthenticateChallengeError } from 'oauth4webapi';
import { isLLMError, LLMConnectionError, LLMRateLimitError } from '../../../ai/domain/errors/LLMErrors';
import { safeMessage } from '../../../ai/domain/errors/safeText';
import { OAuthRefusal, StaleLeaseError } from '../../domain/interfaces/AuthorizationServer';
import { withoutSecrets } from '../../domain/withoutSecrets';

/**
 * Errors of the library become errors without a cause that hold only the server's error code and description.
 * @param sent secrets that the server may quote
 */
export async function withSafeErrors<T>(
  sent: readonly (string | null | undefined)[],
  request: () => Promise<T>,
): Promise<T> {
  try {
    return await request();
  } catch (error) {
    if (isLLMError(error) || error instanceof OAuthRefusal || error instanceof StaleLeaseError) throw error;
    throw safeError(error, (text) => safeMessage(withoutSecrets(text, sent)));
  }
}

function safeError(error: unknown, safe: (text: string) => string): Error {
  const refusal = (code: string, description?: string): OAuthRefusal =>
    new OAuthRefusal(safe(code).slice(0, 100), description === undefined ? undefined : safe(description));
  if (error instanceof AuthorizationResponseError) return refusal(error.error, error.error_description);
  if (error instanceof ResponseBodyError)
    return transientError(error.status, error.error) ?? refusal(error.error, error.error_description);
  if (error instanceof WWWAuthenticateChallengeError) return transientError(error.status) ?? refusal('invalid_client');
  const status = statusOf(error);
  return (
    (status === undefined ? undefined : transientError(status)) ??
    refusal('invalid_response', error instanceof Error ? error.message : undefined)
  );
}

/** An error that a later attempt may not meet, or undefined. */
function transientError(status: number, error?: string): Error | undefined {
  if (status === 429) return new LLMRateLimitError('The authorization server received too many requests.', { status });
  if (status < 500 && error !== 'server_error' && error !== 'temporarily_unavailable') return undefined;
  return new LLMConnectionError(`The authorization server is unavailable (status ${status}).`, { status });
}

/** The status of a response that is not an OAuth error at all, such as a proxy's error page. */
function statusOf(error: unknown): number | undefined {
  return error instanceof Error && error.cause instanceof Response ? error.cause.status : undefined;
}
