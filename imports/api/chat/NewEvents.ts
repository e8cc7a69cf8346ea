/** Passes each of a run's events once, where what the store has of the run overlaps with what was emitted lately. */
import type { AgentEvent, AgentEventOf } from '../../business/ai/domain/types/AgentEvents';

/** How far a call has come. A call under review may run again; a settled call does not change. */
const STAGES = { pending: 0, awaiting_approval: 1, executing: 2, needs_review: 3, settled: 4 } as const;

interface Question {
  readonly id: string;
  readonly expiresAt: number;
  /** Ids of what was asked before. */
  readonly earlier: ReadonlySet<string>;
  /** The events that now follow are about something before it. */
  readonly isOld: boolean;
  readonly isAnswered: boolean;
}

export class NewEvents {
  private hasStarted = false;
  private hasEnded = false;
  /** The model call that the events now belong to. */
  private iteration = 0;
  /** The last model call with a response. */
  private responded = 0;
  private readonly stages = new Map<string, number>();
  /** What tools have asked last, by call. */
  private readonly asked = new Map<string, Question>();
  private readonly arrived = new Set<string>();
  private readonly delivered = new Set<string>();

  /** @returns whether the event is new */
  accepts(event: AgentEvent): boolean {
    switch (event.type) {
      case 'run:started': {
        const isFirst = !this.hasStarted;
        this.hasStarted = true;
        return isFirst;
      }
      case 'history:compacted':
        return event.iteration > this.responded;
      case 'iteration:start':
        this.iteration = event.iteration;
        return event.iteration > this.responded;
      case 'llm:delta':
      case 'tool:arguments_delta':
      case 'llm:retry':
        return this.iteration > this.responded;
      case 'llm:response':
      case 'llm:interrupted':
        if (event.iteration <= this.responded) return false;
        this.responded = event.iteration;
        this.iteration = event.iteration;
        return true;
      case 'tool:pending':
        return this.advances(event.callId, STAGES.pending);
      case 'tool:approval_required':
        return this.advances(event.callId, STAGES.awaiting_approval);
      case 'tool:executing':
        return this.advances(event.callId, STAGES.executing, STAGES.needs_review);
      case 'tool:needs_review':
        return this.advances(event.callId, STAGES.needs_review);
      case 'tool:completed':
      case 'tool:failed':
      case 'tool:timeout':
      case 'tool:cancelled':
        return this.advances(event.callId, STAGES.settled);
      case 'tool:input_required':
        return this.isOpen(event) && this.isLatest(event);
      case 'tool:input_received':
        return this.isOpen(event) && this.isFirstAnswer(event.callId);
      case 'tool:progress':
        return this.isOpen(event);
      case 'result:arrived': {
        const isFirst = !this.arrived.has(event.callId);
        this.arrived.add(event.callId);
        return isFirst;
      }
      case 'run:completed':
      case 'run:failed':
      case 'run:cancelled': {
        const isFirst = !this.hasEnded;
        this.hasEnded = true;
        return isFirst;
      }
      case 'nonblocking:result':
        // Precedes its model call, so it is old if it follows a model call before the last one.
        return this.iteration >= this.responded;
      case 'message:delivered': {
        const isFirst = !this.delivered.has(event.messageId);
        this.delivered.add(event.messageId);
        return isFirst;
      }
      case 'run:parked':
      case 'run:awaiting_tools':
      case 'tool:late':
      case 'nonblocking:llm_response':
      case 'nonblocking:error':
        return true;
    }
  }

  private isOpen({ callId }: { readonly callId: string }): boolean {
    return (this.stages.get(callId) ?? STAGES.settled) < STAGES.settled;
  }

  /** Whether the tool asks anew. What was emitted lately may go back before what the store has of the call. */
  private isLatest({ callId, input: { id }, expiresAt }: AgentEventOf<'tool:input_required'>): boolean {
    const last = this.asked.get(callId);
    if (last !== undefined && (id === last.id || last.earlier.has(id) || expiresAt < last.expiresAt)) {
      this.asked.set(callId, { ...last, isOld: id !== last.id });
      return false;
    }
    const earlier = new Set(last && [...last.earlier, last.id]);
    this.asked.set(callId, { id, expiresAt, earlier, isOld: false, isAnswered: false });
    return true;
  }

  private isFirstAnswer(callId: string): boolean {
    const last = this.asked.get(callId);
    if (last === undefined) return true;
    if (last.isOld || last.isAnswered) return false;
    this.asked.set(callId, { ...last, isAnswered: true });
    return true;
  }

  /** @param from the later stage from which the call may return to this one */
  private advances(callId: string, stage: number, from?: number): boolean {
    const current = this.stages.get(callId) ?? -1;
    if (stage <= current && current !== from) return false;
    this.stages.set(callId, stage);
    return true;
  }
}
