/** Passes what is measured on to everything that collects it, with a bounded number of values for each attribute. */
import type { Attributes } from '@opentelemetry/api';
import { METRICS } from './definitions';
import type { ReadMetric, RecordedMetric } from './definitions';

export interface Observation {
  readonly value: number;
  readonly attributes?: Attributes;
}

export type ReadGauge = () => readonly Observation[] | Promise<readonly Observation[]>;

/** Collects measurements: OpenTelemetry, or Prometheus. */
export interface MetricSink {
  /** Whether what is recorded goes anywhere. */
  isActive(): boolean;
  record(name: RecordedMetric, value: number, attributes: Attributes): void;
  observe(name: ReadMetric, read: ReadGauge): void;
}

/** Callers choose names of models. Beyond this many, an attribute has the value `other`. */
const MAX_VALUES = 100;

export class MetricRecorder {
  private readonly sinks: MetricSink[] = [];
  private readonly gauges: (readonly [ReadMetric, ReadGauge])[] = [];
  private readonly values = new Map<string, Set<string>>();

  isActive(): boolean {
    return this.sinks.some((sink) => sink.isActive());
  }

  addSink(sink: MetricSink): void {
    this.sinks.push(sink);
    for (const [name, read] of this.gauges) sink.observe(name, read);
  }

  /** Attributes that the metric does not have are left out. */
  record(name: RecordedMetric, value: number, attributes: Attributes = {}): void {
    const bounded: Attributes = {};
    for (const attribute of METRICS[name].attributes) {
      const given = attributes[attribute];
      if (typeof given === 'string') bounded[attribute] = this.bounded(attribute, given);
    }
    for (const sink of this.sinks) sink.record(name, value, bounded);
  }

  observe(name: ReadMetric, read: ReadGauge): void {
    const readBounded: ReadGauge = async () =>
      (await read()).map(({ value, attributes = {} }) => ({
        value,
        attributes: Object.fromEntries(
          Object.entries(attributes).map(([attribute, given]) => [attribute, this.bounded(attribute, String(given))]),
        ),
      }));
    this.gauges.push([name, readBounded]);
    for (const sink of this.sinks) sink.observe(name, readBounded);
  }

  private bounded(attribute: string, value: string): string {
    const known = this.values.get(attribute) ?? new Set<string>();
    this.values.set(attribute, known);
    if (known.has(value)) return value;
    if (known.size >= MAX_VALUES) return 'other';
    known.add(value);
    return value;
  }
}
