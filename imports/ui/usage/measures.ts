/** What a report shows of its requests: each is a chart and columns of a table. */
import type { UsageFigures } from '../../business/usage/domain/UsageReports';
import { formatCount, formatDuration, formatMoney } from '../format/format';

export interface Measure {
  readonly name: string;
  readonly label: string;
  readonly kind: 'columns' | 'lines';
  readonly format: (value: number) => string;
  /** One line or layer each, if the report is not grouped. */
  readonly parts: readonly {
    readonly label: string;
    readonly valueOf: (figures: UsageFigures) => number | undefined;
  }[];
  /** What is shown of each group. */
  readonly valueOf: (figures: UsageFigures) => number | undefined;
}

const COST: Measure = {
  name: 'cost',
  label: 'Cost',
  kind: 'columns',
  format: formatMoney,
  parts: [{ label: 'Cost', valueOf: ({ cost }) => cost }],
  valueOf: ({ cost }) => cost,
};

const TOKENS: Measure = {
  name: 'tokens',
  label: 'Tokens',
  kind: 'columns',
  format: formatCount,
  parts: [
    { label: 'Input', valueOf: ({ tokens }) => tokens && tokens.input - tokens.cached },
    { label: 'Cached input', valueOf: ({ tokens }) => tokens?.cached },
    { label: 'Output', valueOf: ({ tokens }) => tokens && tokens.output - tokens.reasoning },
    { label: 'Reasoning', valueOf: ({ tokens }) => tokens?.reasoning },
  ],
  valueOf: ({ tokens }) => tokens && tokens.input + tokens.output,
};

function requests(label: string): Measure {
  return {
    name: 'requests',
    label,
    kind: 'columns',
    format: formatCount,
    parts: [
      { label: 'Succeeded', valueOf: ({ requests: all, errors }) => all - errors },
      { label: 'Failed', valueOf: ({ errors }) => errors },
    ],
    valueOf: ({ requests: all }) => all,
  };
}

const ERRORS: Measure = {
  name: 'errors',
  label: 'Errors',
  kind: 'columns',
  format: formatCount,
  parts: [{ label: 'Failed', valueOf: ({ errors }) => errors }],
  valueOf: ({ errors }) => errors,
};

function times(name: 'duration' | 'timeToFirstToken', label: string): Measure {
  return {
    name,
    label,
    kind: 'lines',
    format: formatDuration,
    parts: [
      { label: 'p50', valueOf: (figures) => figures[name]?.p50 },
      { label: 'p95', valueOf: (figures) => figures[name]?.p95 },
    ],
    valueOf: (figures) => figures[name]?.p95,
  };
}

export const MODEL_MEASURES: readonly Measure[] = [
  COST,
  requests('Requests'),
  TOKENS,
  ERRORS,
  times('duration', 'Duration'),
  times('timeToFirstToken', 'Time to first token'),
];

export const TOOL_MEASURES: readonly Measure[] = [requests('Calls'), ERRORS, times('duration', 'Duration')];
