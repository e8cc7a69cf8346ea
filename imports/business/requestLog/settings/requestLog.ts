/** Settings of the log of model calls: whether it is kept, whether bodies are, and how long. */
import type { RequestLogSettings } from '../createRequestLog';
import { SettingProblems } from '../../../host/settings/SettingProblems';
import { omitUndefined } from '../../ai/domain/omitUndefined';

const DAY_MS = 86_400_000;

/**
 * REQUEST_LOG (`on` or `off`; default on), REQUEST_LOG_BODIES (`on` or `off`; default off), REQUEST_LOG_KEEP_DAYS (30)
 * and REQUEST_LOG_BODIES_KEEP_DAYS (7), and REQUEST_LOG_MAX_ENTRIES, whose default depends on the database.
 * @param valueOf returns the setting or variable with that name
 * @throws LLMInvalidRequestError that names every invalid variable
 */
export function readRequestLogSettings(valueOf: (name: string) => string | undefined): RequestLogSettings {
  const problems = new SettingProblems();
  const readSwitch = (name: string): boolean | undefined => {
    const value = valueOf(name)?.toLowerCase();
    if (value !== undefined && value !== 'on' && value !== 'off') problems.add(name, `${name} must be on or off.`);
    return value === undefined ? undefined : value === 'on';
  };
  const readDays = (name: string): number | undefined => {
    const text = valueOf(name);
    if (text === undefined) return undefined;
    const days = Number(text);
    if (days > 0 && days <= MAX_DAYS) return days * DAY_MS;
    problems.add(name, `${name} must be a number of days above 0, at most ${MAX_DAYS}.`);
    return undefined;
  };
  const isEnabled = readSwitch('REQUEST_LOG');
  const bodies = readSwitch('REQUEST_LOG_BODIES');
  const entries = readDays('REQUEST_LOG_KEEP_DAYS');
  const bodiesAge = readDays('REQUEST_LOG_BODIES_KEEP_DAYS');
  const maxEntries = readMaxEntries(valueOf('REQUEST_LOG_MAX_ENTRIES'), problems);
  problems.throwIfAny();
  return omitUndefined({ isEnabled, bodies, maxEntries, retention: omitUndefined({ entries, bodies: bodiesAge }) });
}

function readMaxEntries(text: string | undefined, problems: SettingProblems): number | undefined {
  const entries = Number(text);
  if (text === undefined || (Number.isSafeInteger(entries) && entries > 0))
    return text === undefined ? undefined : entries;
  problems.add('REQUEST_LOG_MAX_ENTRIES', 'REQUEST_LOG_MAX_ENTRIES must be an integer above 0.');
  return undefined;
}

const MAX_DAYS = 3_650;
