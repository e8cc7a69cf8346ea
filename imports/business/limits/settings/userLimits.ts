/** Settings of what one user may do in a minute and at a time. */
import type { UserLimits } from '../domain/UserLimits';
import { SettingProblems } from '../../../host/settings/SettingProblems';

const NAMES = {
  requestsPerMinute: 'USER_REQUESTS_PER_MINUTE',
  tokensPerMinute: 'USER_TOKENS_PER_MINUTE',
  parallelCalls: 'USER_PARALLEL_CALLS',
  connections: 'USER_CONNECTIONS',
  queuedMessages: 'USER_QUEUED_MESSAGES',
} as const satisfies Record<keyof UserLimits, string>;

/**
 * The variables of `NAMES`: integers, where 0 limits nothing. Default: `DEFAULT_USER_LIMITS`.
 * @param valueOf returns the setting or variable with that name
 * @throws LLMInvalidRequestError that names every invalid variable
 */
export function readUserLimits(valueOf: (name: string) => string | undefined): Partial<UserLimits> {
  const problems = new SettingProblems();
  const limits: Partial<Record<keyof UserLimits, number>> = {};
  for (const [field, name] of Object.entries(NAMES) as [keyof UserLimits, string][]) {
    const text = valueOf(name);
    if (text === undefined) continue;
    const limit = Number(text);
    if (!Number.isSafeInteger(limit) || limit < 0)
      problems.add(name, `${name} must be a whole number; 0 stands for no limit.`);
    limits[field] = limit === 0 ? Infinity : limit;
  }
  problems.throwIfAny();
  return limits;
}
