/** The order of the events of a session, as docs/reference/events.md states it. */
import type { ToolCall } from '../../../imports/business/ai/domain/entities/Tool';
import type { ActiveRun } from '../../../imports/business/ai/domain/run/ActiveRun';
import type { PublishedToolEvent } from '../../../imports/business/ai/domain/run/RunEffect';
import { RUN_END_EVENTS } from '../../../imports/business/ai/domain/types/AgentEvents';
import type { AgentEventBody } from '../../../imports/business/ai/domain/types/AgentEvents';
import { ensure } from './Violation';

type CallEvent = PublishedToolEvent['type'] | 'tool:pending' | 'tool:late';

/** What may come before an event of a call. A call that another process continues may begin with any but the first. */
const BEFORE: Readonly<Partial<Record<CallEvent, readonly CallEvent[]>>> = {
  'tool:approval_required': ['tool:pending'],
  // An interrupted tool may be started again.
  'tool:executing': ['tool:pending', 'tool:approval_required', 'tool:needs_review'],
  'tool:progress': ['tool:executing', 'tool:progress'],
  'tool:needs_review': [],
  'tool:completed': ['tool:executing', 'tool:progress', 'tool:needs_review'],
  'tool:failed': ['tool:pending', 'tool:approval_required', 'tool:executing', 'tool:progress', 'tool:needs_review'],
  'tool:timeout': ['tool:executing', 'tool:progress'],
  'tool:cancelled': ['tool:pending', 'tool:approval_required', 'tool:executing', 'tool:progress', 'tool:needs_review'],
  'tool:late': ['tool:timeout'],
};

export class EventOrder {
  readonly first: number;
  last: number;
  end: AgentEventBody['type'] | undefined;
  private readonly process: string;
  private readonly isTakenOver: boolean;
  private hasStarted = false;
  private isAsking = false;
  /** The late results that the model is asked about. */
  private asked: readonly string[] | undefined;
  private hasBeenAsked = false;
  /** The next event announces the answer to late results. */
  private owesResponse = false;
  private iteration = 0;
  private readonly lastOfCall = new Map<string, CallEvent>();
  private readonly arrived = new Set<string>();
  private readonly delivered = new Set<string>();
  /** The call that has settled last, of which its arrival must follow. */
  private owedArrival: string | undefined;

  constructor({ seq }: ActiveRun, process: string, isTakenOver: boolean) {
    this.isTakenOver = isTakenOver;
    this.first = seq + 1;
    this.last = seq;
    this.process = process;
  }

  published(seq: number, body: AgentEventBody, call: ToolCall | undefined): void {
    const { type } = body;
    this.number(seq, type);
    if (type === 'result:arrived') {
      ensure(this.owedArrival === body.callId, () => `${type} of ${body.callId} follows no end of the call.`);
      ensure(!this.arrived.has(body.callId), () => `The result of ${body.callId} arrives twice.`);
      this.arrived.add(body.callId);
      this.owedArrival = undefined;
      return;
    }
    ensure(this.owedArrival === undefined, () => `The arrival of the result of ${this.owedArrival!} is not announced.`);
    ensure(
      (type === 'run:started') === !this.hasStarted,
      () => `${type} comes ${this.hasStarted ? 'again' : 'first'}.`,
    );
    this.hasStarted = true;
    switch (type) {
      case 'iteration:start':
        ensure(!this.isAsking, () => `${type} follows iteration:start.`);
        ensure(body.iteration > this.iteration, () => `Iteration ${body.iteration} follows ${this.iteration}.`);
        this.iteration = body.iteration;
        this.isAsking = true;
        return;
      case 'nonblocking:result':
        ensure(!this.isAsking && body.callIds.length > 0, () => `${type} comes during a call, or for nothing.`);
        this.asked = body.callIds;
        return;
      case 'llm:delta':
      case 'llm:retry':
        ensure(this.isAsking, () => `${type} comes outside of a call.`);
        return;
      case 'llm:interrupted':
        ensure(this.isAsking && body.iteration === this.iteration, () => `${type} follows no iteration:start.`);
        this.isAsking = false;
        return;
      case 'message:delivered':
        ensure(!this.isAsking, () => `${type} comes during a call.`);
        ensure(!this.delivered.has(body.messageId), () => `The message ${body.messageId} is delivered twice.`);
        this.delivered.add(body.messageId);
        return;
      case 'llm:response':
        ensure(this.isAsking && body.iteration === this.iteration, () => `${type} follows no iteration:start.`);
        this.isAsking = false;
        this.hasBeenAsked = this.asked !== undefined;
        this.owesResponse = this.hasBeenAsked;
        return;
      case 'nonblocking:llm_response':
        ensure(this.hasBeenAsked && sameIds(this.asked, body.callIds), () => `${type} has other results.`);
        this.owesResponse = false;
        this.asked = undefined;
        this.hasBeenAsked = false;
        return;
      case 'nonblocking:error':
        ensure(sameIds(this.asked, body.callIds), () => `${type} has other results.`);
        this.asked = undefined;
        return;
      case 'tool:pending':
        ensure(call !== undefined && call.state === 'pending', () => `${type} of a call that is not.`);
        this.follow(body.callId, 'tool:pending');
        return;
      default:
        if (!RUN_END_EVENTS.has(type)) return;
        ensure(!this.isAsking || this.asked === undefined, () => 'Nobody is told that late results were not answered.');
        this.end = type;
    }
  }

  publishedCall(seq: number, { type }: PublishedToolEvent, call: ToolCall): void {
    this.number(seq, type);
    ensure(this.owedArrival === undefined, () => `The arrival of the result of ${this.owedArrival!} is not announced.`);
    this.follow(call.id, type);
  }

  /** The next event announces the result. */
  owes(callId: string): void {
    this.owedArrival = callId;
  }

  private follow(callId: string, type: CallEvent): void {
    const last = this.lastOfCall.get(callId);
    if (last === undefined)
      ensure(this.isTakenOver || type === 'tool:pending', () => `${type} is the first event of ${callId}.`);
    else
      ensure(
        BEFORE[type]?.includes(last) === true || (type === 'tool:executing' && last === 'tool:executing'),
        () => `${type} of ${callId} follows ${last}.`,
      );
    this.lastOfCall.set(callId, type);
  }

  private number(seq: number, type: string): void {
    ensure(seq === this.last + 1, () => `${type} has the seq ${seq} after ${this.last} in ${this.process}.`);
    this.last = seq;
    ensure(
      !this.owesResponse || type === 'nonblocking:llm_response',
      () => `${type} comes before the answer to late results is announced.`,
    );
    ensure(this.end === undefined || type === 'tool:late', () => `${type} follows ${this.end!}.`);
  }
}

function sameIds(some: readonly string[] | undefined, others: readonly string[]): boolean {
  return some?.length === others.length && some.every((id, index) => id === others[index]);
}
