/** A chart of each measure of a report, with its values in a table. */
import { useMemo } from 'react';
import type { UsageReport } from '../../business/usage/domain/UsageReports';
import { TONES } from '../components/chart/chartOptions';
import type { ChartSeries } from '../components/chart/chartOptions';
import { TimeChart } from '../components/chart/TimeChart';
import { formatInterval } from '../format/intervals';
import type { Interval } from '../format/intervals';
import { groupLabel, OTHERS } from './groupLabel';
import type { Measure } from './measures';

export interface UsageChartsProps {
  readonly report: UsageReport;
  readonly interval: Interval;
  readonly isGrouped: boolean;
  readonly measures: readonly Measure[];
}

export function UsageCharts({ measures, ...props }: UsageChartsProps) {
  return (
    <div className="usage-charts">
      {measures.map((measure) => (
        <UsageChart key={measure.name} measure={measure} {...props} />
      ))}
    </div>
  );
}

function UsageChart({
  report,
  interval,
  isGrouped,
  measure,
}: Omit<UsageChartsProps, 'measures'> & { readonly measure: Measure }) {
  const series = useMemo(() => seriesOf(report, measure, isGrouped), [report, measure, isGrouped]);
  const isPercentile = measure.kind === 'lines';
  const title = isGrouped && isPercentile ? `${measure.label}, p95` : measure.label;
  const hasValues = series.some(({ values }) => values.some((value) => value !== null && value > 0));
  const id = `usage-${measure.name}`;
  return (
    <section className="card usage-chart" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {hasValues ? (
        <TimeChart
          label={`${title} by ${interval}: the table below has the values.`}
          intervals={report.intervals}
          interval={interval}
          kind={measure.kind}
          series={series}
          format={measure.format}
        />
      ) : (
        <p className="muted usage-empty">
          {isPercentile ? 'Nothing was measured in this period.' : `None in this period.`}
        </p>
      )}
      <details className="usage-values">
        <summary>Values by {interval}</summary>
        <div className="usage-scroll" tabIndex={0} role="group" aria-label={`Table of ${title} by ${interval}`}>
          <table className="usage-table">
            <caption className="visually-hidden">
              {title} by {interval}
            </caption>
            <thead>
              <tr>
                <th scope="col">{interval === 'day' ? 'Day' : 'Hour'}</th>
                {series.map(({ label }) => (
                  <th key={label} scope="col" className="numeric">
                    <bdi>{label}</bdi>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {report.intervals.map((at, index) => (
                <tr key={at}>
                  <th scope="row">{formatInterval(at, interval)}</th>
                  {series.map(({ label, values }) => (
                    <td key={label} className="numeric">
                      {formatCell(values[index], measure)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </section>
  );
}

function formatCell(value: number | null | undefined, { format }: Measure): string {
  return value === null || value === undefined ? '–' : format(value);
}

function seriesOf(report: UsageReport, measure: Measure, isGrouped: boolean): readonly ChartSeries[] {
  if (!isGrouped)
    return measure.parts.map(({ label, valueOf }, at) => ({
      label,
      tone: label === 'Failed' ? 'red' : toneAt(at),
      values: report.all.values.map((figures) => valueOf(figures) ?? null),
    }));
  const groups = report.groups.map((group, at): ChartSeries => ({
    label: group.label ?? groupLabel(group.name),
    tone: toneAt(at),
    values: group.values.map((figures) => measure.valueOf(figures) ?? null),
  }));
  if (report.others === undefined) return groups;
  const values = report.others.values.map((figures) => measure.valueOf(figures) ?? null);
  return [...groups, { label: OTHERS, tone: 'grey', values }];
}

function toneAt(index: number): ChartSeries['tone'] {
  return TONES[index] ?? 'grey';
}
