/** Settings of the audit trail: how long its entries are kept, and how many. */
import type { AuditLimits } from '../infrastructure/DocumentAuditStore';
import { SettingProblems } from '../../../host/settings/SettingProblems';
import { omitUndefined } from '../../ai/domain/omitUndefined';

const DAY_MS = 86_400_000;
const MAX_DAYS = 36_500;

/**
 * AUDIT_KEEP_DAYS (default 365): a number of days; `never` or 0 removes nothing by age. AUDIT_MAX_ENTRIES, whose
 * default depends on the database: a number, or `unlimited`.
 * @param valueOf returns the setting or variable with that name
 * @throws LLMInvalidRequestError that names every invalid variable
 */
export function readAuditLimits(valueOf: (name: string) => string | undefined): AuditLimits {
  const problems = new SettingProblems();
  const textOf = (name: string): string => valueOf(name)?.trim().toLowerCase() ?? '';
  const retentionMs = readRetention(textOf('AUDIT_KEEP_DAYS'), problems);
  const maxEntries = readMaxEntries(textOf('AUDIT_MAX_ENTRIES'), problems);
  problems.throwIfAny();
  return omitUndefined({ retentionMs, maxEntries });
}

/** @returns milliseconds, or undefined for the default */
function readRetention(text: string, problems: SettingProblems): number | undefined {
  if (text === '') return undefined;
  if (text === 'never') return Infinity;
  const days = Number(text);
  if (days === 0) return Infinity;
  if (days > 0 && days <= MAX_DAYS) return days * DAY_MS;
  problems.add(
    'AUDIT_KEEP_DAYS',
    `AUDIT_KEEP_DAYS must be a number of days, at most ${MAX_DAYS}; never (or 0) keeps entries forever.`,
  );
  return undefined;
}

/** @returns undefined for the default */
function readMaxEntries(text: string, problems: SettingProblems): number | undefined {
  if (text === '') return undefined;
  if (text === 'unlimited') return Infinity;
  const entries = Number(text);
  if (Number.isSafeInteger(entries) && entries > 0) return entries;
  problems.add('AUDIT_MAX_ENTRIES', 'AUDIT_MAX_ENTRIES must be an integer above 0, or unlimited.');
  return undefined;
}
