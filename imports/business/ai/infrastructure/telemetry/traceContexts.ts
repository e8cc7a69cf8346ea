/** Turns the contexts of OpenTelemetry into stored ones, and back. https://www.w3.org/TR/trace-context/ */
import { createTraceState, isSpanContextValid, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import type { Context } from '@opentelemetry/api';
import type { TraceContext } from '../../domain/types/TraceContext';

const TRACEPARENT = /^00-(?<traceId>[0-9a-f]{32})-(?<spanId>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})$/;

/** @returns undefined for a context without a span */
export function toTraceContext(context: Context): TraceContext | undefined {
  const span = trace.getSpanContext(context);
  if (span === undefined || !isSpanContextValid(span)) return undefined;
  const flags = span.traceFlags.toString(16).padStart(2, '0');
  const tracestate = span.traceState?.serialize() ?? '';
  return {
    traceparent: `00-${span.traceId}-${span.spanId}-${flags}`,
    ...(tracestate === '' ? {} : { tracestate }),
  };
}

/** @returns the root context for a malformed one */
export function fromTraceContext({ traceparent, tracestate }: TraceContext): Context {
  const { traceId = '', spanId = '', flags = '' } = TRACEPARENT.exec(traceparent)?.groups ?? {};
  const span = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16),
    isRemote: true,
    ...(tracestate === undefined ? {} : { traceState: createTraceState(tracestate) }),
  };
  return isSpanContextValid(span) ? trace.setSpanContext(ROOT_CONTEXT, span) : ROOT_CONTEXT;
}
