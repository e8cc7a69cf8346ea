/** A run as `bolide.run.*` and `bolide.tool.waiting` count it, by its events. */
import type { AgentEvent, AgentEventType, LocalAgentEvent } from '../../../domain/types/AgentEvents';
import type { MetricRecorder } from './MetricRecorder';

/** What a tool call waits for. */
export type WaitKind = 'approval' | 'review' | 'external';

type Settled = LocalAgentEvent<
  Extract<AgentEvent, { readonly type: 'tool:completed' | 'tool:failed' | 'tool:timeout' | 'tool:cancelled' }>
>;

export const COUNTED_EVENTS: ReadonlySet<AgentEventType> = new Set([
  'iteration:start',
  'llm:response',
  'tool:approval_required',
  'tool:needs_review',
  'tool:executing',
  'tool:completed',
  'tool:failed',
  'tool:timeout',
  'tool:cancelled',
  'run:completed',
  'run:failed',
  'run:cancelled',
]);

export class CountedRun {
  readonly waits = new Map<string, WaitKind>();
  private readonly recorder: MetricRecorder;
  private readonly onEnd: (run: CountedRun) => void;
  private readonly startedAt = performance.now();
  /** Calls whose tools run. */
  private readonly executing = new Set<string>();
  private isCalling = false;

  /** @param onEnd called when it is to be counted no longer */
  constructor(recorder: MetricRecorder, onEnd: (run: CountedRun) => void) {
    this.recorder = recorder;
    this.onEnd = onEnd;
  }

  /** It waits for people and other services only. */
  get isWaiting(): boolean {
    return !this.isCalling && this.executing.size === 0 && this.waits.size > 0;
  }

  receive(event: LocalAgentEvent): void {
    switch (event.type) {
      case 'iteration:start':
        this.isCalling = true;
        break;
      case 'llm:response':
        this.isCalling = false;
        break;
      case 'tool:approval_required':
        this.waits.set(event.callId, 'approval');
        break;
      case 'tool:needs_review':
        this.waits.set(event.callId, 'review');
        break;
      case 'tool:executing':
        if (event.expiresAt === undefined) {
          this.waits.delete(event.callId);
          this.executing.add(event.callId);
        } else this.waits.set(event.callId, 'external');
        break;
      case 'tool:completed':
      case 'tool:failed':
      case 'tool:timeout':
      case 'tool:cancelled':
        this.settled(event);
        break;
      case 'run:completed':
      case 'run:failed':
      case 'run:cancelled':
        this.ended(event.type.slice('run:'.length));
        break;
      default:
    }
  }

  /** The run continues in another process, or nowhere. */
  left(): void {
    this.onEnd(this);
  }

  private settled(event: Settled): void {
    this.waits.delete(event.callId);
    this.executing.delete(event.callId);
    // A call that was cancelled, or failed before its tool began, has not run.
    if (event.type === 'tool:cancelled' || !('startTime' in event.toolCall)) return;
    this.recorder.record('gen_ai.execute_tool.duration', event.executionTime / 1_000, {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': event.name,
      ...(event.type === 'tool:completed' ? {} : { 'error.type': event.error.failure }),
    });
  }

  private ended(state: string): void {
    const seconds = (performance.now() - this.startedAt) / 1_000;
    this.recorder.record('bolide.run.duration', seconds, { 'bolide.run.state': state });
    this.onEnd(this);
  }
}
