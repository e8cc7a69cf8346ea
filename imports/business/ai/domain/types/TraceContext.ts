/** Where a run belongs in a distributed trace, as W3C Trace Context writes it. https://www.w3.org/TR/trace-context/ */
export interface TraceContext {
  /** Version, trace id, span id and flags, such as `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`. */
  readonly traceparent: string;
  /** What tracing systems add. Absent: nothing. */
  readonly tracestate?: string;
}
