/** The setting that turns the response cache off. */
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';

/**
 * RESPONSE_CACHE: `off` answers no request from the cache, whatever it asks for. Default: `on`.
 * @param valueOf returns the setting or variable with that name
 * @throws LLMInvalidRequestError
 */
export function readResponseCache(valueOf: (name: string) => string | undefined): boolean {
  const value = valueOf('RESPONSE_CACHE')?.toLowerCase() ?? 'on';
  if (value === 'on' || value === 'off') return value === 'on';
  throw new LLMInvalidRequestError('RESPONSE_CACHE must be on or off.', { path: 'RESPONSE_CACHE' });
}
