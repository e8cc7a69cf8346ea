/** A table with the totals of each group, and of all together. */
import type { UsageFigures, UsageReport } from '../../business/usage/domain/UsageReports';
import { formatCount, formatDuration, formatMoney } from '../format/format';
import { groupLabel, OTHERS } from './groupLabel';

export interface UsageTotalsProps {
  readonly report: UsageReport;
  /** What the report is grouped by: "Model". Absent: nothing. */
  readonly groupedBy?: string | undefined;
  readonly isOnTools: boolean;
}

interface Column {
  readonly label: string;
  readonly read: (figures: UsageFigures) => string;
}

const UNKNOWN = '–';
const TIMES: readonly Column[] = [
  { label: 'p50', read: ({ duration }) => (duration === undefined ? UNKNOWN : formatDuration(duration.p50)) },
  { label: 'p95', read: ({ duration }) => (duration === undefined ? UNKNOWN : formatDuration(duration.p95)) },
];

const MODEL_COLUMNS: readonly Column[] = [
  { label: 'Requests', read: ({ requests }) => formatCount(requests) },
  { label: 'Errors', read: ({ errors }) => formatCount(errors) },
  { label: 'Cost', read: costOf },
  { label: 'Input', read: ({ tokens }) => formatCount(tokens?.input ?? 0) },
  { label: 'Cached', read: ({ tokens }) => formatCount(tokens?.cached ?? 0) },
  { label: 'Cache hits', read: cacheHitsOf },
  { label: 'Output', read: ({ tokens }) => formatCount(tokens?.output ?? 0) },
  { label: 'Reasoning', read: ({ tokens }) => formatCount(tokens?.reasoning ?? 0) },
  ...TIMES,
  {
    label: 'First token p50',
    read: ({ timeToFirstToken: time }) => (time === undefined ? UNKNOWN : formatDuration(time.p50)),
  },
  {
    label: 'First token p95',
    read: ({ timeToFirstToken: time }) => (time === undefined ? UNKNOWN : formatDuration(time.p95)),
  },
];

const TOOL_COLUMNS: readonly Column[] = [
  { label: 'Calls', read: ({ requests }) => formatCount(requests) },
  { label: 'Failed', read: ({ errors }) => formatCount(errors) },
  ...TIMES,
];

export function UsageTotals({ report, groupedBy, isOnTools }: UsageTotalsProps) {
  const columns = isOnTools ? TOOL_COLUMNS : MODEL_COLUMNS;
  const rows: readonly { readonly key: string; readonly label: string; readonly figures: UsageFigures }[] = [
    ...report.groups.map(({ name, label = groupLabel(name), total }) => ({
      key: `group ${name ?? ''}`,
      label,
      figures: total,
    })),
    ...(report.others === undefined
      ? []
      : [{ key: 'others', label: `${OTHERS} (${report.others.groups})`, figures: report.others.total }]),
  ];
  return (
    <section className="card" aria-labelledby="usage-totals">
      <h2 id="usage-totals">Totals</h2>
      <div className="usage-scroll" tabIndex={0} role="region" aria-label="Table of totals">
        <table className="usage-table">
          <thead>
            <tr>
              <th scope="col">{groupedBy ?? 'Period'}</th>
              {columns.map(({ label }) => (
                <th key={label} scope="col" className="numeric">
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ key, label, figures }) => (
              <TotalsRow key={key} label={label} columns={columns} figures={figures} />
            ))}
          </tbody>
          <tfoot>
            <TotalsRow label="All" columns={columns} figures={report.all.total} />
          </tfoot>
        </table>
      </div>
    </section>
  );
}

function TotalsRow({
  label,
  columns,
  figures,
}: {
  readonly label: string;
  readonly columns: readonly Column[];
  readonly figures: UsageFigures;
}) {
  return (
    <tr>
      <th scope="row">
        <bdi>{label}</bdi>
      </th>
      {columns.map((column) => (
        <td key={column.label} className="numeric">
          {column.read(figures)}
        </td>
      ))}
    </tr>
  );
}

/** The share of the input that was read from the vendors' prompt caches. */
function cacheHitsOf({ tokens }: UsageFigures): string {
  if (tokens === undefined || tokens.input === 0) return UNKNOWN;
  return `${Math.round((100 * tokens.cached) / tokens.input)} %`;
}

/** A sum that lacks the requests of unknown cost is at least that much. */
function costOf({ requests, cost = 0, unpriced = 0 }: UsageFigures): string {
  if (unpriced === 0) return formatMoney(cost);
  return cost === 0 && unpriced >= requests ? 'unknown' : `≥ ${formatMoney(cost)}`;
}
