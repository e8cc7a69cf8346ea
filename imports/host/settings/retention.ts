/** Settings of how long conversations of every form are kept. */
import type { RetentionTime } from '../../database/StoredCollection';
import { SettingProblems } from './SettingProblems';

const DAY_MS = 86_400_000;
/** By which databases remove documents themselves. */
const MAX_DAYS = 30;

/**
 * RESPONSES_KEEP_DAYS, CONVERSATIONS_KEEP_DAYS, MESSAGES_KEEP_DAYS and CHATS_KEEP_DAYS: 1 to 30 days, the default.
 * @param valueOf returns the setting or variable with that name
 * @throws LLMInvalidRequestError that names every invalid variable
 */
export function readContentTimes(
  valueOf: (name: string) => string | undefined,
): Partial<Record<RetentionTime, number>> {
  const problems = new SettingProblems();
  const times: Partial<Record<RetentionTime, number>> = {};
  for (const [kind, name] of Object.entries(VARIABLES) as [RetentionTime, string][]) {
    const text = valueOf(name);
    if (text === undefined) continue;
    const days = Number(text);
    if (days >= 1 && days <= MAX_DAYS) times[kind] = days * DAY_MS;
    else problems.add(name, `${name} must be a number of days from 1 to ${MAX_DAYS}.`);
  }
  problems.throwIfAny();
  return times;
}

const VARIABLES = {
  responses: 'RESPONSES_KEEP_DAYS',
  conversations: 'CONVERSATIONS_KEEP_DAYS',
  messages: 'MESSAGES_KEEP_DAYS',
  chats: 'CHATS_KEEP_DAYS',
} as const satisfies Record<RetentionTime, string>;
