/**
 * Reports what a module does: traces of requests, runs, model calls and tools to OpenTelemetry, and metrics to
 * OpenTelemetry and Prometheus. Without an SDK in the program there are no traces. All of it is attached from outside:
 * decorators of providers, of the run store and of tools, a listener of run events, and a hook of routes.
 */
import { trace } from '@opentelemetry/api';
import type { ILLMProvider } from '../../domain/interfaces/ILLMProvider';
import type { IToolExecutor } from '../../domain/interfaces/IToolExecutor';
import type { RunStore } from '../../domain/interfaces/RunStore';
import { ContentRecorder } from './ContentRecorder';
import type { RedactContent } from './ContentRecorder';
import { traceRequest } from './HttpSpans';
import type { TracedRequest } from './HttpSpans';
import { MetricRecorder } from './metrics/MetricRecorder';
import { observeEventLoop } from './metrics/observeEventLoop';
import { OpenTelemetryMetrics } from './metrics/OpenTelemetryMetrics';
import { RunMetrics } from './metrics/RunMetrics';
import type { ModelCallPorts } from './ModelCallSpan';
import { RunSpans } from './RunSpans';
import type { RunEvents, RunSpansPorts } from './RunSpans';
import { attributeWriter, providerNameOf } from './semanticConventions';
import type { ConventionsVersion } from './semanticConventions';
import { TracedProvider } from './TracedProvider';
import { traceRunStore } from './traceRunStore';
import { traceTools } from './traceTools';

export interface TelemetrySettings {
  /** The version of OpenTelemetry's conventions for generative AI. Default: `1.41`. */
  readonly conventions?: ConventionsVersion;
  /** Whether spans have messages, arguments and results. Default: false. */
  readonly captureContent?: boolean;
  /** Changes each text of captured content. Default: what looks like a credential is masked, nothing else. */
  readonly redact?: RedactContent;
}

type Route = { readonly providerId: string; readonly model: string | undefined } | undefined;

export interface TelemetryPorts {
  /** The vendor of a provider. Undefined for an unknown one. */
  readonly vendorOf?: (providerId: string) => string | undefined;
  /** The model of a provider that a request without one gets. */
  readonly defaultModelOf?: (providerId: string) => string | undefined;
}

export class Telemetry {
  /** Measurements, and what collects them. */
  readonly metrics = new MetricRecorder();
  private readonly runMetrics: RunMetrics;
  private readonly runs: RunSpans;
  private readonly ports: RunSpansPorts & Pick<ModelCallPorts, 'providerNameOf'>;
  /** Of the provider that was decorated last. */
  private routeOf: (model: string | undefined) => Route = () => undefined;

  constructor(settings: TelemetrySettings = {}, { vendorOf, defaultModelOf }: TelemetryPorts = {}) {
    const { conventions = '1.41', captureContent = false, redact } = settings;
    const nameOf = (providerId: string): string => providerNameOf(providerId, vendorOf?.(providerId));
    this.ports = {
      tracer: trace.getTracer('bolide'),
      write: attributeWriter(conventions),
      content: captureContent ? new ContentRecorder(redact) : undefined,
      providerNameOf: nameOf,
      targetOf: (model, providerId) => {
        const route = this.routeOf(model ?? providerId);
        return {
          providerName: nameOf(providerId ?? route?.providerId ?? 'unknown'),
          model: route === undefined ? model : (route.model ?? defaultModelOf?.(route.providerId)),
        };
      },
    };
    this.runs = new RunSpans(this.ports);
    this.metrics.addSink(new OpenTelemetryMetrics(this.ports.write));
    this.runMetrics = new RunMetrics(this.metrics);
    observeEventLoop(this.metrics);
  }

  /** How many runs have an open span. */
  get openRuns(): number {
    return this.runs.size;
  }

  /** @param routeOf the provider and model that a requested model leads to, before any fallback */
  traceProvider(provider: ILLMProvider, routeOf: (model: string | undefined) => Route): ILLMProvider {
    this.routeOf = routeOf;
    return new TracedProvider(provider, { ...this.ports, runs: this.runs, metrics: this.metrics });
  }

  traceTools(executor: IToolExecutor): IToolExecutor {
    return traceTools(executor, this.runs);
  }

  traceRunStore(store: RunStore): RunStore {
    const { runs, runMetrics } = this;
    const listener = {
      created: runs.created.bind(runs),
      refused: runs.refused.bind(runs),
      claim: runs.claim.bind(runs),
      left(executionId: string): void {
        runs.left(executionId);
        runMetrics.left(executionId);
      },
    };
    return traceRunStore(store, listener, this.metrics);
  }

  traceRuns(loop: RunEvents): void {
    this.runs.watch(loop);
    this.runMetrics.watch(loop);
  }

  /** @param work is done with the request's span as the active one */
  readonly traceRequest = (request: TracedRequest, work: () => void): void =>
    traceRequest(this.ports.tracer, request, work);

  /** Ends the spans of runs that continue in another process. */
  close(): void {
    this.runs.leaveAll();
  }
}
