/** Entries of the audit trail as text: a JSON object per line, or CSV for spreadsheets (RFC 4180). */
import type { AuditEntry } from '../../ai/domain/types/AuditEntries';

export const AUDIT_FORMATS = ['ndjson', 'csv'] as const;
export type AuditFormat = (typeof AUDIT_FORMATS)[number];

const COLUMNS: readonly (readonly [name: string, valueOf: (entry: AuditEntry) => string | undefined])[] = [
  ['id', ({ _id }) => _id],
  ['at', ({ at }) => new Date(at).toISOString()],
  ['userId', ({ userId }) => userId],
  ['tokenId', ({ tokenId }) => tokenId],
  ['via', ({ via }) => via],
  ['action', ({ action }) => action],
  ['subjectKind', ({ subject }) => subject.kind],
  ['subjectId', ({ subject }) => subject.id],
  ['ownerId', ({ subject }) => subject.ownerId],
  ['outcome', ({ outcome }) => outcome],
  ['error', ({ error }) => error],
  ['changed', ({ changed }) => changed?.join(' ')],
  ['details', ({ details }) => (details === undefined ? undefined : JSON.stringify(details))],
  ['address', ({ address }) => address],
  ['userAgent', ({ userAgent }) => userAgent],
];

/** @param isFirst begins a file, which in CSV has a line of names */
export function formatAuditEntries(
  format: AuditFormat,
  entries: readonly AuditEntry[],
  { isFirst }: { readonly isFirst: boolean },
): string {
  if (format === 'ndjson') return entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
  const head = isFirst ? [COLUMNS.map(([name]) => name).join(',')] : [];
  const rows = entries.map((entry) => COLUMNS.map(([, valueOf]) => cell(valueOf(entry) ?? '')).join(','));
  return [...head, ...rows].map((row) => `${row}\r\n`).join('');
}

/** Spreadsheets run texts that start with these as formulas. https://owasp.org/www-community/attacks/CSV_Injection */
const FORMULA = /^[=+\-@\t\r]/;

function cell(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
