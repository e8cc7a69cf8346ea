/** Counts runs and their tool calls by the events of the agentic loop. */
import type { AgentEventOf, AgentEventType, LocalAgentEvent } from '../../../domain/types/AgentEvents';
import type { RunEvents } from '../RunSpans';
import type { MetricRecorder, Observation } from './MetricRecorder';

/** What a tool call waits for. */
type WaitKind = 'approval' | 'review' | 'external';

interface CountedRun {
  readonly startedAt: number;
  readonly waits: Map<string, WaitKind>;
  /** Calls whose tools run. */
  readonly executing: Set<string>;
  isCalling: boolean;
}

type Local<T extends AgentEventType> = LocalAgentEvent<AgentEventOf<T>>;
type Settled = Local<'tool:completed' | 'tool:failed' | 'tool:timeout' | 'tool:cancelled'>;

export class RunMetrics {
  private readonly recorder: MetricRecorder;
  private readonly runs = new Map<string, CountedRun>();

  constructor(recorder: MetricRecorder) {
    this.recorder = recorder;
    recorder.observe('bolide.run.active', () => this.active());
    recorder.observe('bolide.tool.waiting', () => this.waiting());
  }

  watch(loop: RunEvents): void {
    const settled = (event: Settled): void => this.settled(event);
    const listeners: { readonly [T in AgentEventType]?: (event: Local<T>) => void } = {
      'run:started': ({ executionId }) => {
        const run = { startedAt: performance.now(), waits: new Map(), executing: new Set<string>(), isCalling: false };
        this.runs.set(executionId, run);
      },
      'iteration:start': (event) => this.calling(event.executionId, true),
      'llm:response': (event) => this.calling(event.executionId, false),
      'tool:approval_required': (event) => this.waits(event, 'approval'),
      'tool:needs_review': (event) => this.waits(event, 'review'),
      'tool:executing': (event) => {
        if (event.expiresAt !== undefined) {
          this.waits(event, 'external');
          return;
        }
        const run = this.runs.get(event.executionId);
        run?.waits.delete(event.callId);
        run?.executing.add(event.callId);
      },
      'tool:completed': settled,
      'tool:failed': settled,
      'tool:timeout': settled,
      'tool:cancelled': settled,
      'run:completed': (event) => this.ended(event, 'completed'),
      'run:failed': (event) => this.ended(event, 'failed'),
      'run:cancelled': (event) => this.ended(event, 'cancelled'),
    };
    // Boundary: the table relates each type to its listener.
    for (const [type, listener] of Object.entries(listeners)) loop.on(type as never, listener as never);
  }

  /** The run continues in another process, or nowhere. */
  left(executionId: string): void {
    this.runs.delete(executionId);
  }

  private calling(executionId: string, isCalling: boolean): void {
    const run = this.runs.get(executionId);
    if (run !== undefined) run.isCalling = isCalling;
  }

  private waits(
    { executionId, callId }: { readonly executionId: string; readonly callId: string },
    kind: WaitKind,
  ): void {
    this.runs.get(executionId)?.waits.set(callId, kind);
  }

  private settled(event: Settled): void {
    const run = this.runs.get(event.executionId);
    run?.waits.delete(event.callId);
    run?.executing.delete(event.callId);
    // A call that was cancelled, or failed before its tool began, has not run.
    if (event.type === 'tool:cancelled' || !('startTime' in event.toolCall)) return;
    this.recorder.record('gen_ai.execute_tool.duration', event.executionTime / 1_000, {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': event.name,
      ...(event.type === 'tool:completed' ? {} : { 'error.type': event.error.failure }),
    });
  }

  private ended({ executionId }: { readonly executionId: string }, state: string): void {
    const run = this.runs.get(executionId);
    if (run === undefined) return;
    this.runs.delete(executionId);
    const seconds = (performance.now() - run.startedAt) / 1_000;
    this.recorder.record('bolide.run.duration', seconds, { 'bolide.run.state': state });
  }

  private active(): readonly Observation[] {
    let waiting = 0;
    for (const run of this.runs.values())
      if (!run.isCalling && run.executing.size === 0 && run.waits.size > 0) waiting += 1;
    return [
      { value: this.runs.size - waiting, attributes: { 'bolide.run.state': 'working' } },
      { value: waiting, attributes: { 'bolide.run.state': 'waiting' } },
    ];
  }

  private waiting(): readonly Observation[] {
    const counts = { approval: 0, review: 0, external: 0 };
    for (const { waits } of this.runs.values()) for (const kind of waits.values()) counts[kind] += 1;
    return Object.entries(counts).map(([kind, value]) => ({ value, attributes: { 'bolide.wait.kind': kind } }));
  }
}
