/** Settings of authentication over HTTP: how many invalid tokens are answered, and which address a client has. */
import { DEFAULT_AUTH_FAILURE_LIMITS } from '../../api/auth/AuthFailureLimiter';
import type { AuthFailureLimits } from '../../api/auth/AuthFailureLimiter';
import { SettingProblems } from './SettingProblems';

export interface AuthSettings {
  readonly authFailures?: AuthFailureLimits;
  readonly forwardedCount?: number;
}

/**
 * AUTH_FAILURES_PER_ADDRESS and AUTH_FAILURES, per minute, and HTTP_FORWARDED_COUNT, which Meteor reads, too.
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
  const settings = {
    authFailures: {
      perAddress: read('AUTH_FAILURES_PER_ADDRESS', 1, perAddress),
      total: read('AUTH_FAILURES', 1, total),
    },
    forwardedCount: read('HTTP_FORWARDED_COUNT', 0, 0),
  };
  problems.throwIfAny();
  return settings;
}
