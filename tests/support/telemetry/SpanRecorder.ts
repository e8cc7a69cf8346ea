/** OpenTelemetry's own SDK, which keeps finished spans in memory. */
import { context, propagation, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { ReadableSpan, Span } from '@opentelemetry/sdk-trace-base';

export class SpanRecorder {
  private readonly exporter = new InMemorySpanExporter();
  /** The ids of all spans, in the order in which they began. */
  private readonly started: string[] = [];

  /** Registers the SDK for the whole process. */
  install(): void {
    const starts = {
      onStart: (span: Span): void => void this.started.push(span.spanContext().spanId),
      onEnd: (): void => undefined,
      forceFlush: () => Promise.resolve(),
      shutdown: () => Promise.resolve(),
    };
    trace.setGlobalTracerProvider(
      new BasicTracerProvider({ spanProcessors: [starts, new SimpleSpanProcessor(this.exporter)] }),
    );
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  }

  uninstall(): void {
    trace.disable();
    context.disable();
    propagation.disable();
    this.reset();
  }

  reset(): void {
    this.exporter.reset();
    this.started.length = 0;
  }

  get spans(): readonly ReadableSpan[] {
    return this.exporter.getFinishedSpans();
  }

  /** Spans that have begun and not ended. */
  get open(): number {
    return this.started.length - this.spans.length;
  }

  named(name: string): readonly ReadableSpan[] {
    return this.spans.filter((span) => span.name === name);
  }

  /** The only span with the name. */
  only(name: string): ReadableSpan {
    const [span, ...more] = this.named(name);
    if (span === undefined || more.length > 0) throw new Error(`${1 + more.length} spans are named "${name}".`);
    return span;
  }

  /** The names as an indented tree, in the order in which the spans began. Failed ones have their error type. */
  tree(): readonly string[] {
    const ids = new Set(this.spans.map((span) => span.spanContext().spanId));
    // Not by their times: those that continue a remote span have clocks of their own, of milliseconds.
    const place = new Map(this.started.map((id, index) => [id, index]));
    const placeOf = (span: ReadableSpan): number => place.get(span.spanContext().spanId) ?? -1;
    const inOrder = this.spans.toSorted((a, b) => placeOf(a) - placeOf(b));
    const below = (parent: string | undefined, indent: string): readonly string[] =>
      inOrder
        .filter(({ parentSpanContext: { spanId } = {} }) =>
          parent === undefined ? spanId === undefined || !ids.has(spanId) : spanId === parent,
        )
        .flatMap((span) => [indent + lineOf(span), ...below(span.spanContext().spanId, `${indent}  `)]);
    return below(undefined, '');
  }
}

function lineOf({ name, status, attributes }: ReadableSpan): string {
  return status.code === SpanStatusCode.ERROR ? `${name} ! ${String(attributes['error.type'])}` : name;
}
