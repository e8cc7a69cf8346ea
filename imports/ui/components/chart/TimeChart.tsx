/** Values over time, as stacked columns or as lines. The values also belong into a table: a chart is only a picture. */
import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import { formatInterval } from '../../format/intervals';
import type { Interval } from '../../format/intervals';
import { chartOptions } from './chartOptions';
import type { ChartSeries } from './chartOptions';

export interface TimeChartProps {
  /** Describes the chart to those who cannot see it. */
  readonly label: string;
  /** Their starts, in milliseconds since the epoch. */
  readonly intervals: readonly number[];
  readonly interval: Interval;
  readonly kind: 'columns' | 'lines';
  readonly series: readonly ChartSeries[];
  readonly format: (value: number) => string;
}

/** Fixed, so that nothing moves when the chart is drawn. */
const HEIGHT = 190;

export function TimeChart({ label, intervals, interval, kind, series, format }: TimeChartProps) {
  const frame = useRef<HTMLDivElement>(null);
  const [hovered, setHovered] = useState<number>();
  const theme = useTheme(frame);
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const options = chartOptions({ element, interval, kind, series, format, onHover: setHovered, height: HEIGHT });
    const chart = new uPlot(options, toData(intervals, series, kind), element);
    const resizing = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }));
    resizing.observe(element);
    return () => {
      resizing.disconnect();
      chart.destroy();
      setHovered(undefined);
    };
  }, [intervals, interval, kind, series, format, theme]);
  const at = hovered === undefined ? undefined : intervals[hovered];
  return (
    <figure className="time-chart">
      <div ref={frame} className="time-chart-frame" role="img" aria-label={label} />
      <figcaption aria-hidden="true">
        <span className="time-chart-at muted">{at === undefined ? '' : formatInterval(at, interval)}</span>
        <ul className="legend">
          {series.map(({ label: name, tone, values }) => (
            <li key={name} className={`tone-${tone}`}>
              <span className="legend-dot" /> <bdi>{name}</bdi>
              {hovered !== undefined && <b className="numeric"> {formatValue(values[hovered], format)}</b>}
            </li>
          ))}
        </ul>
      </figcaption>
    </figure>
  );
}

function formatValue(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? '–' : format(value);
}

/** Columns are stacked by drawing sums, the greatest first, each in front of the one before it. */
function toData(
  intervals: readonly number[],
  series: readonly ChartSeries[],
  kind: TimeChartProps['kind'],
): uPlot.AlignedData {
  const times = intervals.map((milliseconds) => milliseconds / 1_000);
  if (kind === 'lines') return [times, ...series.map(({ values }) => [...values])];
  const sums = series.map((_, last) =>
    intervals.map((_at, index) => series.slice(0, last + 1).reduce((sum, { values }) => sum + (values[index] ?? 0), 0)),
  );
  return [times, ...sums.reverse()];
}

/** Changes with the colours of the page, which a canvas does not follow by itself. */
function useTheme(frame: React.RefObject<HTMLElement | null>): string {
  const [theme, setTheme] = useState('');
  useEffect(() => {
    const root = frame.current?.closest('[data-theme]');
    if (root === null || root === undefined) return;
    const read = (): void => setTheme(root.getAttribute('data-theme') ?? '');
    read();
    const observer = new MutationObserver(read);
    observer.observe(root, { attributes: true, attributeFilter: ['data-theme'] });
    return () => observer.disconnect();
  }, [frame]);
  return theme;
}
