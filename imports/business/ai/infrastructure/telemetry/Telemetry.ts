/**
 * Reports what a module does: traces of requests, runs, model calls and tools to OpenTelemetry, and metrics to
 * OpenTelemetry and Prometheus. Without an SDK in the program there are no traces. All of it is attached from outside:
 * decorators of providers, of the run store and of tools, a listener of run events, and a hook of routes.
 */
import type {
  Instrumentation,
  NewRun,
  RouteOf,
  RunInstrumentation,
  RunObserver,
} from '../../domain/interfaces/Instrumentation';
import type { ILLMProvider } from '../../domain/interfaces/ILLMProvider';
import type { StoredRun } from '../../domain/interfaces/RunStore';
import type { TraceContext } from '../../domain/types/TraceContext';
import { ContentRecorder } from './ContentRecorder';
import type { RedactContent } from './ContentRecorder';
import { traceMessage, traceRequest } from './HttpSpans';
import { MetricRecorder } from './metrics/MetricRecorder';
import { observeEventLoop } from './metrics/observeEventLoop';
import { OpenTelemetryMetrics } from './metrics/OpenTelemetryMetrics';
import { RunMetrics } from './metrics/RunMetrics';
import type { ModelCallPorts } from './ModelCallSpan';
import { ObservedRun } from './ObservedRun';
import { loadOpenTelemetry, openTelemetry, tracing } from './openTelemetry';
import { RunSpan } from './RunSpan';
import { attributeWriter, providerNameOf } from './semanticConventions';
import type { ConventionsVersion } from './semanticConventions';
import { spanContextOf } from './Tracing';
import { toTraceContext } from './traceContexts';
import { TracedProvider } from './TracedProvider';

export interface TelemetrySettings {
  /** The version of OpenTelemetry's conventions for generative AI. Default: `1.41`. */
  readonly conventions?: ConventionsVersion | undefined;
  /** Whether spans have messages, arguments and results. Default: false. */
  readonly captureContent?: boolean | undefined;
  /** Changes each text of captured content. Default: what looks like a credential is masked, nothing else. */
  readonly redact?: RedactContent;
}

export interface TelemetryPorts {
  /** The vendor of a provider. Undefined for an unknown one. */
  readonly vendorOf?: (providerId: string) => string | undefined;
  /** The model of a provider that a request without one gets. */
  readonly defaultModelOf?: (providerId: string) => string | undefined;
}

export class Telemetry implements Instrumentation {
  /** Measurements, and what collects them. */
  readonly metrics = new MetricRecorder();
  readonly traceRequest = traceRequest;
  readonly traceMessage = traceMessage;
  /** For loops and managers whose model calls are traced already. */
  readonly runInstrumentation: RunInstrumentation = {
    ready: () => this.ready(),
    beginRun: (run, routeOf) => this.beginRun(run, routeOf),
    currentTrace: () => this.currentTrace(),
  };
  private readonly runMetrics: RunMetrics;
  private readonly runs = new Set<ObservedRun>();
  private readonly ports: ModelCallPorts;

  constructor(settings: TelemetrySettings = {}, { vendorOf, defaultModelOf }: TelemetryPorts = {}) {
    const { conventions = '1.41', captureContent = false, redact } = settings;
    const nameOf = (providerId: string): string => providerNameOf(providerId, vendorOf?.(providerId));
    this.ports = {
      metrics: this.metrics,
      write: attributeWriter(conventions),
      content: captureContent ? new ContentRecorder(redact) : undefined,
      providerNameOf: nameOf,
      targetOf: ({ model, providerId }, route) => ({
        providerName: nameOf(providerId ?? route?.providerId ?? 'unknown'),
        model: route === undefined ? model : (route.model ?? defaultModelOf?.(route.providerId)),
      }),
    };
    this.metrics.addSink(new OpenTelemetryMetrics(this.ports.write));
    this.runMetrics = new RunMetrics(this.metrics);
    observeEventLoop(this.metrics);
    // Mostly the SDK is set up before, and the first request need not wait.
    void loadOpenTelemetry();
  }

  /** How many runs are observed now. */
  get openRuns(): number {
    return this.runs.size;
  }

  traceProvider(provider: ILLMProvider, routeOf: RouteOf): ILLMProvider {
    return new TracedProvider(provider, this.ports, routeOf);
  }

  ready(): Promise<void> | undefined {
    return loadOpenTelemetry();
  }

  beginRun(run: NewRun | StoredRun, routeOf: RouteOf): RunObserver | undefined {
    const traces = tracing();
    const isCounted = this.metrics.isActive();
    if (traces === undefined && !isCounted) return undefined;
    const observed = new ObservedRun({
      span: traces === undefined ? undefined : new RunSpan(traces, this.ports, run, routeOf),
      counted: isCounted ? this.runMetrics.begin() : undefined,
      metrics: this.metrics,
      onEnd: (ended) => this.runs.delete(ended),
    });
    this.runs.add(observed);
    return observed;
  }

  currentTrace(): TraceContext | undefined {
    const api = openTelemetry();
    return api === undefined ? undefined : toTraceContext(api, spanContextOf(api));
  }

  /** Ends the spans of runs that continue in another process. */
  close(): void {
    for (const run of this.runs) run.left();
  }
}
