/** The setting that seals users' content before it is stored. */
import { LLMInvalidRequestError } from '../../ai/domain/errors/LLMErrors';

/**
 * AI_SEAL_CONTENT: `on` or `off`, the default.
 * @param valueOf returns the setting or variable with that name
 * @throws LLMInvalidRequestError
 */
export function readSealContent(valueOf: (name: string) => string | undefined): boolean {
  const value = valueOf('AI_SEAL_CONTENT')?.toLowerCase() ?? 'off';
  if (value === 'on' || value === 'off') return value === 'on';
  throw new LLMInvalidRequestError('AI_SEAL_CONTENT must be on or off.', { path: 'AI_SEAL_CONTENT' });
}

/**
 * A key that is generated lies beside the data, where it protects nothing.
 * @throws LLMInvalidRequestError
 */
export function requireSealingKeys(secretKeys: string | undefined): void {
  if (secretKeys !== undefined) return;
  throw new LLMInvalidRequestError(
    "AI_SEAL_CONTENT is on, which requires AI_SECRET_KEYS, stored apart from the data. Generate a key with: node -p \"'k1:' + crypto.randomBytes(32).toString('base64')\"",
    { path: 'AI_SECRET_KEYS' },
  );
}
