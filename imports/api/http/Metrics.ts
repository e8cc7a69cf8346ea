/** The API's metrics in Prometheus' text format. https://prometheus.io/docs/instrumenting/exposition_formats */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { UsageEntry } from '../../business/ai/domain/types/UsageRecords';

export interface HandledRequest {
  readonly route: string;
  /** Empty if the request was routed to no provider. */
  readonly provider: string;
  readonly status: number;
  readonly seconds: number;
}

export class Metrics {
  private readonly registry = new Registry();
  private readonly requests: Counter<'route' | 'provider' | 'status'>;
  private readonly durations: Histogram<'route'>;

  /**
   * @param usage tokens used so far, by provider and user
   * @param running the number of requests in progress
   */
  constructor(usage: () => readonly UsageEntry[], running: () => number) {
    const registers = [this.registry];
    this.requests = new Counter({
      name: 'bolide_http_requests_total',
      help: 'Requests handled.',
      labelNames: ['route', 'provider', 'status'],
      registers,
    });
    this.durations = new Histogram({
      name: 'bolide_http_request_seconds',
      help: 'Time from the request to the end of its response.',
      labelNames: ['route'],
      buckets: [0.05, 0.25, 1, 5, 15, 60, 300],
      registers,
    });
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
  }

  record({ route, provider, status, seconds }: HandledRequest): void {
    this.requests.inc({ route, provider, status: String(status) });
    this.durations.observe({ route }, seconds);
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  text(): Promise<string> {
    return this.registry.metrics();
  }
}
