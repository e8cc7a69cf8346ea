/** The API's metrics in Prometheus' text format. https://prometheus.io/docs/instrumenting/exposition_formats */
import type { Counter, Histogram, Registry } from 'prom-client';
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
}

/** prom-client is loaded by servers only, not by every import of the package. */
export class Metrics {
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
    if (this.loaded !== undefined) count(this.loaded, request);
    else
      this.instruments.then(
        (loaded) => count(loaded, request),
        () => undefined,
      );
  }

  async text(): Promise<{ readonly contentType: string; readonly body: string }> {
    const { registry } = await this.instruments;
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
  return {
    registry,
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
