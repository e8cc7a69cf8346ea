/** Turns the contexts of OpenTelemetry into stored ones, and back. https://www.w3.org/TR/trace-context/ */
import type { Context, SpanContext } from '@opentelemetry/api';
import { omitUndefined } from '../../domain/util/omitUndefined';
import type { TraceContext } from '../../domain/types/TraceContext';
import type { OpenTelemetry } from './Tracing';

const TRACEPARENT = /^00-(?<traceId>[0-9a-f]{32})-(?<spanId>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})$/;

/** @returns undefined for a context without a span */
export function toTraceContext(api: OpenTelemetry, span: SpanContext | undefined): TraceContext | undefined {
  if (span === undefined || !api.isSpanContextValid(span)) return undefined;
  const flags = span.traceFlags.toString(16).padStart(2, '0');
  const tracestate = span.traceState?.serialize() ?? '';
  return {
    traceparent: `00-${span.traceId}-${span.spanId}-${flags}`,
    ...(tracestate === '' ? {} : { tracestate }),
  };
}

/** @returns undefined for a malformed one */
export function toSpanContext(api: OpenTelemetry, { traceparent, tracestate }: TraceContext): SpanContext | undefined {
  const { traceId = '', spanId = '', flags = '' } = TRACEPARENT.exec(traceparent)?.groups ?? {};
  const span = omitUndefined({
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
    traceState: tracestate === undefined ? undefined : api.createTraceState(tracestate),
  });
  return api.isSpanContextValid(span) ? span : undefined;
}

/** @returns the root context for a malformed one */
export function fromTraceContext(api: OpenTelemetry, trace: TraceContext): Context {
  const span = toSpanContext(api, trace);
  return span === undefined ? api.ROOT_CONTEXT : api.trace.setSpanContext(api.ROOT_CONTEXT, span);
}
