/** Whether the program has set up an SDK of OpenTelemetry, which it may do at any time. */
import { createNoopMeter, metrics, ProxyTracerProvider, trace } from '@opentelemetry/api';

export function hasTraceSdk(): boolean {
  const provider = trace.getTracerProvider();
  return !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer('bolide') !== undefined;
}

export function hasMetricSdk(): boolean {
  return metrics.getMeterProvider().getMeter('bolide') !== createNoopMeter();
}
