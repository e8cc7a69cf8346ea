/** Determines from a run's events whether it can continue only after people have decided or supplied results. */
import { toolCalls } from '../../business/ai/domain/entities/Response';
import type { AgentEvent } from '../../business/ai/domain/types/AgentEvents';

export interface OpenCallsOptions {
  /** Whether the tool's results are supplied from outside. */
  readonly isExternal: (toolName: string) => boolean;
  /** Calls that were decided just now, which their events may not show yet. */
  readonly decided?: ReadonlySet<string>;
}

export class OpenCalls {
  private readonly isExternal: OpenCallsOptions['isExternal'];
  private readonly decided: Set<string>;
  private isCallingModel = false;
  /** Calls of the last response that are not recorded yet. */
  private expected = 0;
  /** By call: whether people are awaited. */
  private readonly open = new Map<string, boolean>();

  constructor({ isExternal, decided = new Set() }: OpenCallsOptions) {
    this.isExternal = isExternal;
    this.decided = new Set(decided);
  }

  get isWaitingForPeople(): boolean {
    return (
      !this.isCallingModel &&
      this.expected === 0 &&
      this.open.size > 0 &&
      [...this.open.values()].every((waits) => waits)
    );
  }

  push(event: AgentEvent): void {
    switch (event.type) {
      case 'iteration:start':
        this.isCallingModel = true;
        break;
      case 'llm:response':
        this.isCallingModel = false;
        this.expected = toolCalls(event.response).length;
        break;
      case 'tool:pending':
        this.expected = Math.max(0, this.expected - 1);
        this.open.set(event.callId, false);
        break;
      case 'tool:approval_required':
      case 'tool:needs_review':
        this.open.set(event.callId, !this.decided.has(event.callId));
        break;
      case 'tool:executing':
        this.open.set(event.callId, this.isExternal(event.name) && !this.decided.has(event.callId));
        break;
      case 'tool:completed':
      case 'tool:failed':
      case 'tool:timeout':
      case 'tool:cancelled':
        this.open.delete(event.callId);
        break;
      default:
    }
  }
}
