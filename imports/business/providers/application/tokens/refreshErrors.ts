/** The errors that callers get when no token is available. */
import { isLLMError, LLMAuthError, LLMConnectionError } from '../../../ai/domain/errors/LLMErrors';
import type { Provider } from '../../domain/entities/Provider';
import type { OAuthRefusal } from '../../domain/interfaces/AuthorizationServer';

export function notConnected({ name }: Provider): LLMAuthError {
  return new LLMAuthError(`No account is connected for "${name}". Connect one first.`);
}

export function mustReconnect({ name }: Provider): LLMAuthError {
  return new LLMAuthError(
    `The connection to "${name}" is no longer valid. Connect your account again (reconnect required).`,
  );
}

export function appRefused({ name }: Provider, { error }: OAuthRefusal): Error {
  if (error === 'invalid_response')
    return new LLMConnectionError(`The authorization server of "${name}" sent an invalid response.`);
  return new LLMAuthError(
    `The authorization server of "${name}" rejected this app: ${error}. An administrator must fix its OAuth settings.`,
  );
}

/** The kind of error, for logs; messages may quote secrets. */
export function errorName(error: unknown): string {
  return isLLMError(error) ? error.code : error instanceof Error ? error.name : 'unknown';
}
