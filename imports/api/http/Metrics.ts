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
   */
  constructor(usage: () => readonly UsageEntry[], running: () => number) {
    this.instruments = createInstruments(usage, running);
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

async function createInstruments(usage: () => readonly UsageEntry[], running: () => number): Promise<Instruments> {
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

function labelsOf(attributes: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [prometheusLabel(name), String(value)]));
}
