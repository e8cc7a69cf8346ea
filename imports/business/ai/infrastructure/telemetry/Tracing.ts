/**
 * OpenTelemetry's API for traces, and what an SDK has registered with it, made safe: what a program's processors,
 * samplers, exporters and context managers throw is reported, and fails nothing.
 */
import type * as Api from '@opentelemetry/api';
import type { Attributes, Context, Span, SpanContext, SpanOptions, SpanStatus, Tracer } from '@opentelemetry/api';
import { withoutThrowing } from './withoutThrowing';

export type OpenTelemetry = typeof Api;

export class Tracing {
  readonly api: OpenTelemetry;
  private readonly tracer: Tracer;

  constructor(api: OpenTelemetry, tracer: Tracer) {
    this.api = api;
    this.tracer = tracer;
  }

  get active(): Context {
    return activeContext(this.api);
  }

  /** Does the work with the context as the active one. */
  within<T>(context: Context, work: () => T): T {
    const done: { outcome?: () => T } = {};
    withoutThrowing(() =>
      this.api.context.with(context, () => {
        done.outcome = outcomeOf(work);
      }),
    );
    return done.outcome === undefined ? work() : done.outcome();
  }

  /** The context of the caller whose headers these are. */
  extract(context: Context, headers: object): Context {
    return withoutThrowing(
      () => this.api.propagation.extract(context, headers),
      () => context,
    );
  }

  startSpan(name: string, options: SpanOptions, parent: Context): TracedSpan {
    const { trace, INVALID_SPAN_CONTEXT } = this.api;
    const span = withoutThrowing(
      () => this.tracer.startSpan(name, options, parent),
      () => trace.wrapSpanContext(spanContextOf(this.api, parent) ?? INVALID_SPAN_CONTEXT),
    );
    return new TracedSpan(this.api, span);
  }
}

/** @returns returns or throws what the work has */
function outcomeOf<T>(work: () => T): () => T {
  try {
    const value = work();
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

function activeContext(api: OpenTelemetry): Context {
  return withoutThrowing(
    () => api.context.active(),
    () => api.ROOT_CONTEXT,
  );
}

/** @param context default: the one that is active */
export function spanContextOf(api: OpenTelemetry, context = activeContext(api)): SpanContext | undefined {
  return withoutThrowing(
    () => api.trace.getSpanContext(context),
    () => undefined,
  );
}

export class TracedSpan {
  private readonly api: OpenTelemetry;
  private readonly span: Span;

  constructor(api: OpenTelemetry, span: Span) {
    this.api = api;
    this.span = span;
  }

  /** @returns the context with the span as its span: the SDK's own, which other instrumentation may read */
  in(parent: Context): Context {
    return this.api.trace.setSpan(parent, this.span);
  }

  get isRecording(): boolean {
    return withoutThrowing(
      () => this.span.isRecording(),
      () => false,
    );
  }

  get context(): SpanContext {
    return withoutThrowing(
      () => this.span.spanContext(),
      () => this.api.INVALID_SPAN_CONTEXT,
    );
  }

  setAttributes(attributes: Attributes): void {
    withoutThrowing(() => void this.span.setAttributes(attributes));
  }

  addEvent(name: string, attributes: Attributes): void {
    withoutThrowing(() => void this.span.addEvent(name, attributes));
  }

  /** Marks the span as failed. The message may quote what was said, so a span has only the type of the error. */
  fail(errorType: string): void {
    const status: SpanStatus = { code: this.api.SpanStatusCode.ERROR };
    withoutThrowing(() => void this.span.setAttribute('error.type', errorType).setStatus(status));
  }

  end(): void {
    withoutThrowing(() => this.span.end());
  }
}
