/** Determines from a run's events whether it can continue only after people have decided or supplied results. */
import { toolCalls } from '../../business/ai/domain/entities/Response';
import type { AgentEvent } from '../../business/ai/domain/types/AgentEvents';

export interface OpenCallsOptions {
  /** Whether the tool's results are supplied from outside. */
  readonly isExternal: (toolName: string) => boolean;
  /** Whether the model is not called for a late result of the tool alone. Default: for no tool. */
  readonly isSilent?: (toolName: string) => boolean;
  /** Calls, and what tools ask, that were decided just now, which their events may not show yet. */
  readonly decided?: ReadonlySet<string> | undefined;
}

interface OpenCall {
  readonly blocking: boolean;
  readonly waitsForPeople: boolean;
}

export class OpenCalls {
  private readonly isExternal: OpenCallsOptions['isExternal'];
  private readonly isSilent: NonNullable<OpenCallsOptions['isSilent']>;
  private readonly decided: Set<string>;
  /** What the run does: call the model, run the calls of its response, or wait for late results after an answer. */
  private phase: 'model' | 'tools' | 'late-results' = 'model';
  /** Calls of the last response that are not recorded yet. */
  private expected = 0;
  private readonly open = new Map<string, OpenCall>();
  /** Calls whose late results cause a model call. */
  private readonly arrived = new Set<string>();

  constructor({ isExternal, isSilent = () => false, decided = new Set() }: OpenCallsOptions) {
    this.isExternal = isExternal;
    this.isSilent = isSilent;
    this.decided = new Set(decided);
  }

  get isWaitingForPeople(): boolean {
    return this.isWaiting(() => false);
  }

  /** @param waitsBelow whether the run that the call has started can continue only after people have decided, too */
  isWaiting(waitsBelow: (callId: string) => boolean): boolean {
    const open = [...this.open.values()];
    if (this.phase === 'model' || this.expected > 0 || open.length === 0) return false;
    for (const [callId, { waitsForPeople }] of this.open) if (!waitsForPeople && !waitsBelow(callId)) return false;
    // Once nothing blocks the turn, and as soon as a late result arrives after an answer, the model is called.
    return open.some(({ blocking }) => blocking) || (this.phase === 'late-results' && this.arrived.size === 0);
  }

  push(event: AgentEvent): void {
    switch (event.type) {
      case 'iteration:start':
        this.phase = 'model';
        this.arrived.clear();
        break;
      case 'llm:response': {
        this.expected = toolCalls(event.response).length;
        // A paused turn is continued at once.
        if (event.response.vendor.finish_reason !== 'pause_turn')
          this.phase = this.expected > 0 ? 'tools' : 'late-results';
        break;
      }
      case 'tool:pending':
        this.expected = Math.max(0, this.expected - 1);
        this.open.set(event.callId, { blocking: event.blocking, waitsForPeople: false });
        break;
      case 'tool:approval_required':
      case 'tool:needs_review':
        this.setWaiting(event.callId, !this.decided.has(event.callId));
        break;
      case 'tool:executing':
        this.setWaiting(event.callId, this.isExternal(event.name) && !this.decided.has(event.callId));
        break;
      case 'tool:input_required':
        this.setWaiting(event.callId, !this.decided.has(event.input.id));
        break;
      case 'tool:input_received':
        this.setWaiting(event.callId, false);
        break;
      case 'tool:completed':
      case 'tool:failed':
      case 'tool:timeout':
      case 'tool:cancelled':
        this.open.delete(event.callId);
        break;
      case 'result:arrived':
        if (!this.isSilent(event.name)) this.arrived.add(event.callId);
        break;
      default:
    }
  }

  private setWaiting(callId: string, waitsForPeople: boolean): void {
    this.open.set(callId, { blocking: this.open.get(callId)?.blocking ?? true, waitsForPeople });
  }
}
