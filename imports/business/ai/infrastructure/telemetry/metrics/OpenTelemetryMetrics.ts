/** Records metrics with OpenTelemetry, as soon as the program has set up an SDK for them. */
import type { Attributes, Counter, Histogram, Meter, MeterProvider } from '@opentelemetry/api';
import { metricSdk } from '../openTelemetry';
import { withoutThrowing } from '../withoutThrowing';
import type { AttributeWriter } from '../semanticConventions';
import { METRICS } from './definitions';
import type { MetricDefinition, ReadMetric, RecordedMetric } from './definitions';
import type { MetricSink, ReadGauge } from './MetricRecorder';

export class OpenTelemetryMetrics implements MetricSink {
  private readonly write: AttributeWriter;
  private readonly gauges: (readonly [ReadMetric, ReadGauge])[] = [];
  private provider: MeterProvider | undefined;
  private readonly instruments = new Map<string, Counter | Histogram>();

  constructor(write: AttributeWriter) {
    this.write = write;
    this.bind();
  }

  isActive(): boolean {
    this.bind();
    return this.provider !== undefined;
  }

  record(name: RecordedMetric, value: number, attributes: Attributes): void {
    this.bind();
    const instrument = this.instruments.get(name);
    if (instrument === undefined) return;
    const written = this.write(attributes);
    withoutThrowing(() =>
      'record' in instrument ? instrument.record(value, written) : instrument.add(value, written),
    );
  }

  observe(name: ReadMetric, read: ReadGauge): void {
    this.gauges.push([name, read]);
    this.bind();
    this.bindGauge(name, read);
  }

  /** Meters of before the SDK was set up never record anything. */
  private bind(): void {
    // Boundary: only SDKs register one.
    const provider = metricSdk() as MeterProvider | undefined;
    if (provider === this.provider) return;
    this.provider = provider;
    this.instruments.clear();
    if (provider === undefined) return;
    withoutThrowing(() => this.createInstruments(provider.getMeter('bolide')));
    for (const [name, read] of this.gauges) this.bindGauge(name, read);
  }

  private createInstruments(meter: Meter): void {
    for (const [name, definition] of Object.entries<MetricDefinition>(METRICS)) {
      const { kind, unit, description, boundaries = [] } = definition;
      if (kind === 'histogram')
        this.instruments.set(
          name,
          meter.createHistogram(name, { unit, description, advice: { explicitBucketBoundaries: [...boundaries] } }),
        );
      if (kind === 'counter') this.instruments.set(name, meter.createCounter(name, { unit, description }));
    }
  }

  private bindGauge(name: ReadMetric, read: ReadGauge): void {
    const { unit, description } = METRICS[name];
    withoutThrowing(() =>
      this.provider
        ?.getMeter('bolide')
        .createObservableGauge(name, { unit, description })
        .addCallback(async (result) => {
          for (const { value, attributes = {} } of await read()) result.observe(value, this.write(attributes));
        }),
    );
  }
}
