/** The options of a chart, in the colours and fonts of the page. */
import uPlot from 'uplot';
import { formatInterval, formatTick, INTERVAL_SECONDS } from '../../format/intervals';
import type { Interval } from '../../format/intervals';
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';

export const TONES = ['blue', 'orange', 'green', 'violet', 'pink', 'red', 'amber'] as const;
export type Tone = (typeof TONES)[number] | 'grey';

export interface ChartSeries {
  readonly label: string;
  readonly tone: Tone;
  /** One per interval; null where there is none. */
  readonly values: readonly (number | null)[];
}

export interface ChartOptionsInit {
  readonly element: HTMLElement;
  readonly interval: Interval;
  readonly kind: 'columns' | 'lines';
  readonly series: readonly ChartSeries[];
  readonly format: (value: number) => string;
  /** @param index of the interval under the pointer */
  readonly onHover: (index: number | undefined) => void;
  readonly height: number;
}

const AXIS_WIDTH = 62;
const AXIS_HEIGHT = 26;

export function chartOptions({
  element,
  interval,
  kind,
  series,
  format,
  onHover,
  height,
}: ChartOptionsInit): uPlot.Options {
  const style = getComputedStyle(element);
  const colour = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const font = `11px ${style.fontFamily}`;
  const axis = { stroke: colour('ink-3'), font, ticks: { show: false } };
  const half = INTERVAL_SECONDS[interval] / 2;
  return {
    width: element.clientWidth,
    height,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: kind === 'lines' } },
    scales: {
      // Columns are as wide as their interval, half of it on either side.
      x: { range: (_, min, max) => (kind === 'columns' ? [min - half, max + half] : [min, max]) },
      y: { range: (_, __, max) => [0, max > 0 ? max * 1.08 : 1] },
    },
    axes: [
      {
        ...axis,
        size: AXIS_HEIGHT,
        grid: { show: false },
        space: 60,
        incrs: [3_600, 3 * 3_600, 6 * 3_600, 12 * 3_600, ...[1, 2, 3, 7, 14, 30, 90].map((days) => days * 86_400)],
        values: (_, times) => times.map((seconds) => formatTick(seconds * 1_000, interval)),
      },
      {
        ...axis,
        size: AXIS_WIDTH,
        grid: { stroke: colour('line'), width: 1 },
        values: (_, values) => values.map((value) => (value < 0 ? '' : format(value))),
      },
    ],
    series: [
      { value: (_, seconds) => formatInterval(seconds * 1_000, interval) },
      ...(kind === 'lines' ? series : series.toReversed()).map(({ label, tone }): uPlot.Series => ({
        label,
        stroke: colour(tone),
        ...(kind === 'lines'
          ? { width: 2, points: { size: 5 } }
          : omitUndefined({ fill: colour(tone), width: 0, points: { show: false }, paths: COLUMNS })),
      })),
    ],
    hooks: {
      setCursor: [({ cursor: { idx } }) => onHover(idx ?? undefined)],
    },
  };
}

/** At most 40 pixels wide, with a gap between them. */
const COLUMNS = uPlot.paths.bars?.({ size: [0.75, 40] });
