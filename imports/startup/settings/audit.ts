/** Settings of the audit trail: how long its entries are kept. */
import { SettingProblems } from './SettingProblems';

const DAY_MS = 86_400_000;
const MAX_DAYS = 36_500;

/**
 * AUDIT_KEEP_DAYS (default 365): a number of days; `never` or 0 removes nothing.
 * @param valueOf returns the setting or variable with that name
 * @returns milliseconds, or undefined for the default
 * @throws LLMInvalidRequestError that names the invalid variable
 */
export function readAuditRetention(valueOf: (name: string) => string | undefined): number | undefined {
  const text = valueOf('AUDIT_KEEP_DAYS')?.trim().toLowerCase();
  if (text === undefined || text === '') return undefined;
  if (text === 'never') return Infinity;
  const days = Number(text);
  if (days === 0) return Infinity;
  if (days > 0 && days <= MAX_DAYS) return days * DAY_MS;
  const problems = new SettingProblems();
  problems.add(
    'AUDIT_KEEP_DAYS',
    `AUDIT_KEEP_DAYS must be a number of days, at most ${MAX_DAYS}; never (or 0) keeps entries forever.`,
  );
  problems.throwIfAny();
  return undefined;
}
