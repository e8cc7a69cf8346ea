/** The ids of what is being done, for the lines of the log: those that are set, and those of the active span. */
import { currentLogIds } from '../../domain/logWriter';
import type { LogIds } from '../../domain/logWriter';
import { openTelemetry } from './openTelemetry';

/** In OpenTelemetry's names. */
interface SpanIds {
  readonly trace_id?: string;
  readonly span_id?: string;
}

export function currentIds(): LogIds & SpanIds {
  const api = openTelemetry();
  const span = api?.trace.getSpanContext(api.context.active());
  return {
    ...currentLogIds(),
    ...(span === undefined || api?.isSpanContextValid(span) !== true
      ? {}
      : { trace_id: span.traceId, span_id: span.spanId }),
  };
}
