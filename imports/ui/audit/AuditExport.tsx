/** Saves the entries of the filter as a file. */
import { useCallback } from 'react';
import { AUDIT_FORMATS, formatAuditEntries } from '../../business/audit/domain/auditFormats';
import type { AuditFormat } from '../../business/audit/domain/auditFormats';
import type { AuditPage } from '../../business/audit/domain/AuditStore';
import { FormError } from '../components/FormError';
import { useAction } from '../components/useAction';
import type { ArgumentOf } from '../data/operations';
import { useData } from '../hooks/BolideProvider';
import { downloadText } from '../components/downloadText';

const PAGE_SIZE = 200;
/** More is for `GET /audit/export`, which streams. */
const MAX_ENTRIES = 10_000;

const LABELS: Readonly<Record<AuditFormat, string>> = { csv: 'Export CSV', ndjson: 'Export JSON lines' };
const TYPES: Readonly<Record<AuditFormat, string>> = { csv: 'text/csv', ndjson: 'application/x-ndjson' };

export function AuditExport({ filter }: { readonly filter: ArgumentOf<'ai.audit.list'> }) {
  const { call } = useData();
  const { run, isBusy, error } = useAction(
    useCallback(
      async (format: AuditFormat) => {
        const parts: string[] = [];
        let place: { readonly after?: string } | undefined = {};
        for (let count = 0; place !== undefined; count += PAGE_SIZE) {
          if (count >= MAX_ENTRIES)
            throw new Error(
              `There are more than ${MAX_ENTRIES} entries. Choose a shorter time, or export them with GET /audit/export.`,
            );
          const argument = { ...filter, ...place, order: 'asc', limit: PAGE_SIZE, count: false } as const;
          const page: AuditPage = await call('ai.audit.list', argument);
          parts.push(formatAuditEntries(format, page.entries, { isFirst: count === 0 }));
          place = page.next === undefined ? undefined : { after: page.next };
        }
        downloadText(`audit.${format}`, parts.join(''), TYPES[format]);
      },
      [call, filter],
    ),
  );
  return (
    <div className="buttons">
      {AUDIT_FORMATS.toReversed().map((format) => (
        <button
          key={format}
          type="button"
          className="button button-small"
          disabled={isBusy}
          onClick={() => run(format)}
        >
          {LABELS[format]}
        </button>
      ))}
      <FormError error={error} />
    </div>
  );
}
