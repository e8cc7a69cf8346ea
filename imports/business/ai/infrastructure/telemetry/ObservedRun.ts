/** What telemetry makes of a run: its span, if there is an SDK for traces, and metrics, if anything collects them. */
import type { ToolCall } from '../../domain/entities/Tool';
import type { RunObserver } from '../../domain/interfaces/Instrumentation';
import { RUN_END_EVENTS } from '../../domain/types/AgentEvents';
import type { AgentEvent, AgentEventType, LocalAgentEvent } from '../../domain/types/AgentEvents';
import type { TraceContext } from '../../domain/types/TraceContext';
import { errorTypeOf } from './errorTypeOf';
import { COUNTED_EVENTS } from './metrics/CountedRun';
import type { CountedRun } from './metrics/CountedRun';
import type { MetricRecorder } from './metrics/MetricRecorder';
import { TRACED_EVENTS } from './RunSpan';
import type { RunSpan } from './RunSpan';

export interface ObservedRunPorts {
  readonly span: RunSpan | undefined;
  readonly counted: CountedRun | undefined;
  readonly metrics: MetricRecorder;
  /** Called when the run has ended here, or goes on elsewhere. */
  readonly onEnd: (run: ObservedRun) => void;
}

export class ObservedRun implements RunObserver {
  private readonly ports: ObservedRunPorts;

  constructor(ports: ObservedRunPorts) {
    this.ports = ports;
  }

  get trace(): TraceContext | undefined {
    return this.ports.span?.trace;
  }

  hears(type: AgentEventType): boolean {
    const { span, counted } = this.ports;
    return (span !== undefined && TRACED_EVENTS.has(type)) || (counted !== undefined && COUNTED_EVENTS.has(type));
  }

  receive(event: AgentEvent): void {
    const { span, counted } = this.ports;
    // Events of runs in this process have their tool calls.
    span?.receive(event as LocalAgentEvent);
    counted?.receive(event as LocalAgentEvent);
    if (RUN_END_EVENTS.has(event.type)) this.ports.onEnd(this);
  }

  within<T>(work: () => T): T {
    const { span } = this.ports;
    return span === undefined ? work() : span.within(work);
  }

  beginTool(call: ToolCall): TraceContext | undefined {
    return this.ports.span?.beginTool(call);
  }

  runTool<T>(call: ToolCall, execute: () => T): T {
    const { span } = this.ports;
    return span === undefined ? execute() : span.runTool(call, execute);
  }

  async write<T>(attempt: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    const measure = (attributes = {}): void =>
      this.ports.metrics.record('bolide.journal.write.duration', (performance.now() - startedAt) / 1_000, attributes);
    try {
      const written = await attempt();
      measure();
      return written;
    } catch (error) {
      measure({ 'error.type': errorTypeOf(error) });
      throw error;
    }
  }

  refused(error: unknown): void {
    this.ports.span?.refused(errorTypeOf(error));
    this.leave();
  }

  left(): void {
    this.ports.span?.left();
    this.leave();
  }

  private leave(): void {
    this.ports.counted?.left();
    this.ports.onEnd(this);
  }
}
