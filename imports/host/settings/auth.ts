/** Settings of authentication over HTTP: invalid tokens, the lifetime of new ones, and which address a client has. */
import { DEFAULT_AUTH_FAILURE_LIMITS } from '../../api/auth/AuthFailureLimiter';
import type { AuthFailureLimits } from '../../api/auth/AuthFailureLimiter';
import { omitUndefined } from '../../business/ai/domain/omitUndefined';
import { SettingProblems } from './SettingProblems';

export interface AuthSettings {
  readonly authFailures?: AuthFailureLimits;
  readonly forwardedCount?: number;
  /** Milliseconds. */
  readonly tokenLifetimeMs?: number | 'never';
}

/**
 * AUTH_FAILURES_PER_ADDRESS and AUTH_FAILURES, per minute, API_TOKEN_DAYS, and HTTP_FORWARDED_COUNT. Meteor reads them,
 * too.
 * @param valueOf returns the setting or variable with that name
 * @throws LLMInvalidRequestError that names every invalid variable
 */
export function readAuthSettings(valueOf: (name: string) => string | undefined): AuthSettings {
  const problems = new SettingProblems();
  const read = (name: string, least: number, fallback: number): number => {
    const value = Number(valueOf(name) ?? fallback);
    if (!Number.isSafeInteger(value) || value < least)
      problems.add(name, `${name} must be an integer from ${least} on.`);
    return value;
  };
  const { perAddress, total } = DEFAULT_AUTH_FAILURE_LIMITS;
  const days = valueOf('API_TOKEN_DAYS');
  const settings: AuthSettings = omitUndefined({
    authFailures: {
      perAddress: read('AUTH_FAILURES_PER_ADDRESS', 1, perAddress),
      total: read('AUTH_FAILURES', 1, total),
    },
    forwardedCount: read('HTTP_FORWARDED_COUNT', 0, 0),
    tokenLifetimeMs: days === undefined ? undefined : readLifetime(days, problems),
  });
  problems.throwIfAny();
  return settings;
}

const DAY_MS = 86_400_000;
const MAX_DAYS = 36_500;

function readLifetime(value: string, problems: SettingProblems): number | 'never' {
  if (value.toLowerCase() === 'never') return 'never';
  const days = Number(value);
  if (!Number.isSafeInteger(days) || days < 1 || days > MAX_DAYS)
    problems.add('API_TOKEN_DAYS', `API_TOKEN_DAYS must be never, or an integer from 1 to ${MAX_DAYS}.`);
  return days * DAY_MS;
}
