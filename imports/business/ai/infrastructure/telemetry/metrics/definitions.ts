/**
 * Every metric, defined once for OpenTelemetry and for Prometheus. Names and units of the conventions where there are
 * any. https://github.com/open-telemetry/semantic-conventions/tree/v1.41.0/docs/gen-ai/gen-ai-metrics.md
 */

export interface MetricDefinition {
  /** `gauge` metrics are read when they are collected; the others are recorded. */
  readonly kind: 'histogram' | 'counter' | 'gauge';
  /** In UCUM, as OpenTelemetry writes it. */
  readonly unit: string;
  readonly description: string;
  readonly attributes: readonly string[];
  /** The boundaries of a histogram's buckets. */
  readonly boundaries?: readonly number[];
}

/** The boundaries that the conventions recommend. */
const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const FIRST_CHUNK = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const TOKENS = [1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864];
const WRITE_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const MODEL = ['gen_ai.operation.name', 'gen_ai.provider.name', 'gen_ai.request.model', 'gen_ai.response.model'];

function delay(statistic: string): MetricDefinition & { readonly kind: 'gauge' } {
  return { kind: 'gauge', unit: 's', description: `Event loop delay: ${statistic}.`, attributes: [] };
}

export const METRICS = {
  'gen_ai.client.token.usage': {
    kind: 'histogram',
    unit: '{token}',
    description: 'Input and output tokens of model calls.',
    attributes: [...MODEL, 'gen_ai.token.type'],
    boundaries: TOKENS,
  },
  'gen_ai.client.operation.duration': {
    kind: 'histogram',
    unit: 's',
    description: 'Time of model calls, retries and fallbacks included.',
    attributes: [...MODEL, 'error.type'],
    boundaries: SECONDS,
  },
  'gen_ai.client.operation.time_to_first_chunk': {
    kind: 'histogram',
    unit: 's',
    description: 'Time from the request to the first event of streamed model calls.',
    attributes: MODEL,
    boundaries: FIRST_CHUNK,
  },
  'gen_ai.execute_tool.duration': {
    kind: 'histogram',
    unit: 's',
    description: 'Time of tool executions.',
    attributes: ['gen_ai.operation.name', 'gen_ai.tool.name', 'error.type'],
    boundaries: SECONDS,
  },
  'bolide.run.duration': {
    kind: 'histogram',
    unit: 's',
    description: 'Time of runs that ended, from their start in this process.',
    attributes: ['bolide.run.state'],
    boundaries: [...SECONDS, 163.84, 327.68, 655.36],
  },
  'bolide.run.active': {
    kind: 'gauge',
    unit: '{run}',
    description: 'Runs in this process: working, or waiting for people and other services.',
    attributes: ['bolide.run.state'],
  },
  'bolide.run.lease.count': {
    kind: 'gauge',
    unit: '{lease}',
    description:
      'Runs whose lease this process holds, and those that it has lost and still may be named as the owner of.',
    attributes: ['bolide.lease.state'],
  },
  'bolide.tool.waiting': {
    kind: 'gauge',
    unit: '{call}',
    description: 'Tool calls that wait for a person or another service.',
    attributes: ['bolide.wait.kind'],
  },
  'bolide.journal.write.duration': {
    kind: 'histogram',
    unit: 's',
    description: 'Time of writes of the journal of runs.',
    attributes: ['error.type'],
    boundaries: WRITE_SECONDS,
  },
  'bolide.queue.depth': {
    kind: 'gauge',
    unit: '{run}',
    description: 'Runs that wait for a worker, in all processes together.',
    attributes: [],
  },
  'bolide.cost': {
    kind: 'counter',
    unit: '{USD}',
    description: 'What model calls cost, at list prices: the use of budgets.',
    attributes: MODEL,
  },
  'bolide.provider.circuit': {
    kind: 'gauge',
    unit: '1',
    description: 'Whether the circuit of a provider is in the state: 1 or 0.',
    attributes: ['bolide.provider.id', 'bolide.circuit.state'],
  },
  'nodejs.eventloop.delay.min': delay('the minimum since the last collection'),
  'nodejs.eventloop.delay.max': delay('the maximum since the last collection'),
  'nodejs.eventloop.delay.mean': delay('the mean since the last collection'),
  'nodejs.eventloop.delay.stddev': delay('the standard deviation since the last collection'),
  'nodejs.eventloop.delay.p50': delay('the median since the last collection'),
  'nodejs.eventloop.delay.p90': delay('the 90th percentile since the last collection'),
  'nodejs.eventloop.delay.p99': delay('the 99th percentile since the last collection'),
} as const satisfies Readonly<Record<string, MetricDefinition>>;

export type MetricName = keyof typeof METRICS;
type NamesOf<K extends MetricDefinition['kind']> = {
  [N in MetricName]: (typeof METRICS)[N]['kind'] extends K ? N : never;
}[MetricName];
export type RecordedMetric = NamesOf<'histogram' | 'counter'>;
export type ReadMetric = NamesOf<'gauge'>;

/** `gen_ai.client.operation.duration` in seconds is `gen_ai_client_operation_duration_seconds`. */
export function prometheusName(name: string, { kind, unit }: Pick<MetricDefinition, 'kind' | 'unit'>): string {
  const suffix = unit === 's' ? '_seconds' : unit === '{USD}' ? '_usd' : '';
  return `${prometheusLabel(name)}${suffix}${kind === 'counter' ? '_total' : ''}`;
}

export function prometheusLabel(attribute: string): string {
  return attribute.replaceAll('.', '_');
}
