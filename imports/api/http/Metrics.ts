/** The metrics of the API, and of everything that is measured, in Prometheus' text format. https://prometheus.io/docs/instrumenting/exposition_formats */
import type { Counter, Gauge, Histogram, Registry } from 'prom-client';
import {
  METRICS,
  prometheusLabel,
  prometheusName,
} from '../../business/ai/infrastructure/telemetry/metrics/definitions';
import type {
  MetricDefinition,
  ReadMetric,
  RecordedMetric,
} from '../../business/ai/infrastructure/telemetry/metrics/definitions';
import type { MetricSink, ReadGauge } from '../../business/ai/infrastructure/telemetry/metrics/MetricRecorder';
import type { RunHealth, RunHealthView } from '../../business/ai/infrastructure/persistence/runs/RunHealth';
import type { UsageEntry } from '../../business/ai/domain/types/UsageRecords';

export interface HandledRequest {
  readonly route: string;
  /** Empty if the request was routed to no provider. */
  readonly provider: string;
  readonly status: number;
  readonly seconds: number;
}

interface Instruments {
  readonly registry: Registry;
  readonly requests: Counter<'route' | 'provider' | 'status'>;
  readonly durations: Histogram<'route'>;
  readonly recorded: ReadonlyMap<string, Counter | Histogram>;
  readonly read: ReadonlyMap<string, Gauge>;
}

/** prom-client is loaded by servers only, not by every import of the package. */
export class Metrics {
  /** To be added to what is measured. */
  readonly sink: MetricSink = {
    isActive: () => true,
    record: (name, value, attributes) =>
      this.whenLoaded(({ recorded }) => {
        const instrument = recorded.get(name);
        const labels = labelsOf(attributes);
        if (instrument === undefined) return;
        if ('observe' in instrument) instrument.observe(labels, value);
        else instrument.inc(labels, value);
      }),
    observe: (name, read) => this.gauges.set(name, read),
  };
  private readonly gauges = new Map<ReadMetric, ReadGauge>();
  private readonly instruments: Promise<Instruments>;
  /** Once they are loaded. */
  private loaded: Instruments | undefined;

  /**
   * @param usage tokens used so far, by provider and user
   * @param running the number of requests in progress
   * @param health of the runs of all processes
   */
  constructor(usage: () => readonly UsageEntry[], running: () => number, health?: Pick<RunHealth, 'read'>) {
    this.instruments = createInstruments(usage, running, health);
    // `text` reports the failure.
    this.instruments.then(
      (loaded) => (this.loaded = loaded),
      () => undefined,
    );
  }

  record(request: HandledRequest): void {
    this.whenLoaded((loaded) => count(loaded, request));
  }

  private whenLoaded(use: (loaded: Instruments) => void): void {
    if (this.loaded !== undefined) use(this.loaded);
    else this.instruments.then(use, () => undefined);
  }

  async text(): Promise<{ readonly contentType: string; readonly body: string }> {
    const { registry, read } = await this.instruments;
    // One after another, since some are read from the database.
    for (const [name, observe] of this.gauges) {
      const gauge = read.get(name);
      gauge?.reset();
      for (const { value, attributes = {} } of await observe()) gauge?.set(labelsOf(attributes), value);
    }
    return { contentType: registry.contentType, body: await registry.metrics() };
  }
}

function count({ requests, durations }: Instruments, { route, provider, status, seconds }: HandledRequest): void {
  requests.inc({ route, provider, status: String(status) });
  durations.observe({ route }, seconds);
}

async function createInstruments(
  usage: () => readonly UsageEntry[],
  running: () => number,
  health: Pick<RunHealth, 'read'> | undefined,
): Promise<Instruments> {
  const { Counter, Gauge, Histogram, Registry } = await import('prom-client');
  const registry = new Registry();
  const registers = [registry];
  new Gauge({
    name: 'bolide_http_requests_running',
    help: 'Requests in progress.',
    registers,
    collect() {
      this.set(running());
    },
  });
  if (health !== undefined)
    for (const { name, help, label, values } of RUN_GAUGES)
      new Gauge({
        name,
        help,
        labelNames: label === undefined ? [] : [label],
        registers,
        async collect() {
          this.reset();
          // Without its database, a server still has metrics.
          const view = await health.read().catch(() => undefined);
          if (view === undefined) return;
          for (const [key, value] of values(view)) this.set(label === undefined ? {} : { [label]: key }, value);
        },
      });
  new Counter({
    name: 'bolide_tokens_total',
    help: 'Tokens as counted by vendors; estimated for responses that were cut short.',
    labelNames: ['provider', 'kind'],
    registers,
    collect() {
      this.reset();
      for (const { providerId: provider, usage: used } of usage()) {
        this.inc({ provider, kind: 'input' }, used.input_tokens);
        this.inc({ provider, kind: 'cached_input' }, used.input_tokens_details.cached_tokens);
        this.inc({ provider, kind: 'output' }, used.output_tokens);
        this.inc({ provider, kind: 'reasoning' }, used.output_tokens_details.reasoning_tokens);
      }
    },
  });
  const { recorded, read } = createDefined({ Counter, Gauge, Histogram }, registry);
  return {
    registry,
    recorded,
    read,
    requests: new Counter({
      name: 'bolide_http_requests_total',
      help: 'Requests handled.',
      labelNames: ['route', 'provider', 'status'],
      registers,
    }),
    durations: new Histogram({
      name: 'bolide_http_request_seconds',
      help: 'Time from the request to the end of its response.',
      labelNames: ['route'],
      buckets: [0.05, 0.25, 1, 5, 15, 60, 300],
      registers,
    }),
  };
}

function createDefined(
  client: Pick<typeof import('prom-client'), 'Counter' | 'Gauge' | 'Histogram'>,
  registry: Registry,
): Pick<Instruments, 'recorded' | 'read'> {
  const recorded = new Map<RecordedMetric, Counter | Histogram>();
  const read = new Map<ReadMetric, Gauge>();
  for (const [key, definition] of Object.entries<MetricDefinition>(METRICS)) {
    const { kind, description: help, attributes, boundaries = [] } = definition;
    const common = {
      name: prometheusName(key, definition),
      help,
      labelNames: attributes.map(prometheusLabel),
      registers: [registry],
    };
    if (kind === 'gauge') read.set(key as ReadMetric, new client.Gauge(common));
    else if (kind === 'counter') recorded.set(key as RecordedMetric, new client.Counter(common));
    else recorded.set(key as RecordedMetric, new client.Histogram({ ...common, buckets: [...boundaries] }));
  }
  return { recorded, read };
}

/** The labels by the names of attributes, which are those of the definitions. */
const LABELS: ReadonlyMap<string, string> = new Map(
  Object.values<MetricDefinition>(METRICS).flatMap(({ attributes }) =>
    attributes.map((name) => [name, prometheusLabel(name)] as const),
  ),
);

function labelsOf(attributes: Readonly<Record<string, unknown>>): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const name in attributes) labels[LABELS.get(name) ?? prometheusLabel(name)] = String(attributes[name]);
  return labels;
}

interface RunGauge {
  readonly name: string;
  readonly help: string;
  readonly label?: 'state' | 'kind';
  readonly values: (health: RunHealthView) => readonly (readonly [string, number])[];
}

/** The same in every process, since they read the database. */
const RUN_GAUGES: readonly RunGauge[] = [
  {
    name: 'bolide_runs',
    help: 'Runs that have not ended, by state.',
    label: 'state',
    values: ({ states }) => Object.entries(states),
  },
  {
    name: 'bolide_runs_waiting',
    help: 'What waits for people and other services, by kind; failed runs that nobody has handled among it.',
    label: 'kind',
    values: ({ waiting: { total: _total, ...kinds } }) => Object.entries(kinds),
  },
  {
    name: 'bolide_run_owners',
    help: 'Processes whose heartbeat is not older than a lease.',
    values: ({ owners }) => [['', owners]],
  },
  {
    name: 'bolide_runs_overdue',
    help: 'Runs whose process has sent no heartbeat for a lease, and that none has taken over.',
    values: ({ overdue }) => [['', overdue]],
  },
  {
    name: 'bolide_queue_oldest_seconds',
    help: 'For how long the oldest run that could start has waited for a worker.',
    values: ({ oldestQueuedMs }) => [['', oldestQueuedMs / 1_000]],
  },
];
