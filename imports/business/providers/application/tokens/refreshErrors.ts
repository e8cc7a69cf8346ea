/** The errors that callers get when no token is available. */
import { isLLMError, LLMAuthError, LLMConnectionError } from '../../../ai/domain/errors/LLMErrors';
import { isObject } from '../../../ai/domain/util/json';
import type { Provider } from '../../domain/entities/Provider';
import type { ReconnectReason } from '../../domain/entities/StoredCredential';
import { OAuthRefusal, StaleLeaseError } from '../../domain/interfaces/AuthorizationServer';

export function notConnected({ name }: Provider): LLMAuthError {
  return new LLMAuthError(`No account is connected for "${name}". Connect one first.`);
}

export function mustReconnect({ name }: Provider, reason: ReconnectReason | undefined): LLMAuthError {
  return new LLMAuthError(
    `${WHAT_HAPPENED[reason ?? 'refused'](name)} Connect your account again (reconnect required).`,
  );
}

const WHAT_HAPPENED: Readonly<Record<ReconnectReason, (name: string) => string>> = {
  refused: (name) => `The connection to "${name}" is no longer valid.`,
  expired: (name) => `The connection to "${name}" has expired, and its server issued no token to renew it.`,
  interrupted: (name) =>
    `The connection to "${name}" was lost here: the renewal of its token was interrupted before the new token was ` +
    'stored, as by a crash, and the server accepts the old one no more.',
};

/**
 * Whether a failed request did certainly not use up the refresh token that it was to send: it could not be sent, or was
 * answered by an error.
 */
export function leftTokenUnused(error: unknown): boolean {
  if (error instanceof StaleLeaseError) return true;
  if (error instanceof OAuthRefusal) return error.error !== 'invalid_response';
  if (isLLMError(error) && error.status !== undefined) return true;
  for (let cause = error, depth = 0; isObject(cause) && depth < MAX_CAUSES; depth += 1) {
    if (UNSENT_CODES.has(cause['code'])) return true;
    ({ cause } = cause);
  }
  return false;
}

const MAX_CAUSES = 5;
/** https://nodejs.org/api/errors.html#common-system-errors, and undici's own */
const UNSENT_CODES: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

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
