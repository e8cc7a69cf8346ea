/** The ids of what is being done, for the lines of the log: across awaits, timers and callbacks. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { context, isSpanContextValid, trace } from '@opentelemetry/api';
import { currentLogWriter } from '../../domain/logWriter';
import type { LogIds } from '../../domain/logWriter';

const storage = new AsyncLocalStorage<LogIds>();

/** Within the work, lines have these ids as well. Costs nothing while lines go to the console, which shows none. */
export function withLogIds<T>(ids: LogIds, work: () => T): T {
  if (currentLogWriter() === undefined) return work();
  return storage.run({ ...storage.getStore(), ...ids }, work);
}

/** With the active span's, in OpenTelemetry's names. */
export function currentLogIds(): LogIds & { readonly trace_id?: string; readonly span_id?: string } {
  const span = trace.getSpanContext(context.active());
  return {
    ...storage.getStore(),
    ...(span === undefined || !isSpanContextValid(span) ? {} : { trace_id: span.traceId, span_id: span.spanId }),
  };
}
