/** Whether the program has set up an SDK of OpenTelemetry, which it may do at any time. */
import { createNoopMeter, metrics, trace } from '@opentelemetry/api';

/** The API's own provider, which passes tracers on to that of the SDK. */
interface DelegatingProvider {
  getDelegateTracer?(name: string): unknown;
}

export function hasTraceSdk(): boolean {
  // Boundary: its class is not exported for good.
  const provider = trace.getTracerProvider() as DelegatingProvider;
  return provider.getDelegateTracer === undefined || provider.getDelegateTracer('bolide') !== undefined;
}

export function hasMetricSdk(): boolean {
  return metrics.getMeterProvider().getMeter('bolide') !== createNoopMeter();
}
