/** A tool call in one process, as `ToolProcessor` leads it: review, arguments, approval, slot, tool, result. */
import {
  acceptsDecision,
  isExecuting,
  isExternalTool,
  isPending,
  isSettled,
  needsApproval,
  needsReview,
  waitOf,
} from '../../../imports/business/ai/domain/entities/Tool';
import type { FunctionTool, ToolCall, ToolEvent } from '../../../imports/business/ai/domain/entities/Tool';
import type { ToolFailure } from '../../../imports/business/ai/domain/errors/LLMErrors';
import type { ActiveRun } from '../../../imports/business/ai/domain/run/ActiveRun';
import type { RunEvent } from '../../../imports/business/ai/domain/run/RunEvent';
import type { RunAction } from '../../../imports/business/ai/domain/types/RunRecords';
import type { Pace, PlannedCall } from './MachinePlan';
import type { SessionWorld } from './SessionWorld';
import type { ProcessState } from './SimulatedProcess';
import { toolOf } from './simulatedTools';
import type { Slots } from './Slots';
import type { StateWriter } from './StateWriter';

/** What a call waits for in this process. */
export type CallWaitKind = 'approval' | 'review' | 'external';

/** What a call knows of its run. */
export interface CallSession {
  readonly world: SessionWorld;
  readonly process: Pick<ProcessState, 'isDraining'>;
  readonly state: ActiveRun;
  readonly writer: Pick<StateWriter, 'flushAndVerify'>;
  /** The run ends. */
  readonly isCancelled: boolean;
  /** Nobody can decide about its calls any more. */
  readonly isClosed: boolean;
  slots(isBlocking: boolean): Slots;
  /** @param then once the start of the tool is stored */
  awaitStart(callId: string, then: () => void): void;
  /** Looks for a decision about what the call waits for now. */
  hearOfDecision(call: ToolCall): void;
  dispatch(event: RunEvent): void;
  later(pace: Pace, then: () => void): void;
}

export class SimulatedCall {
  readonly id: string;
  /** Whether the tool has begun, and not returned. */
  isRunning = false;
  isOpen = true;
  private readonly session: CallSession;
  /** The call as it was when it was started here. */
  private readonly call: ToolCall;
  private readonly tool: FunctionTool;
  private readonly planned: PlannedCall;
  private wait: CallWaitKind | undefined;
  private afterWait: ((action: RunAction) => void) | undefined;
  private hasSlot = false;
  private hasTimedOut = false;
  private isInterrupted = false;
  private isRerunApproved = false;
  private isAccepted = false;

  constructor(session: CallSession, call: ToolCall) {
    this.session = session;
    this.call = call;
    this.id = call.id;
    this.tool = toolOf(call.name);
    this.planned = session.world.plannedCall(call);
    if (session.isCancelled) this.cancel();
    else this.later(() => this.begin());
  }

  /** The run has ended. */
  cancel(): void {
    const error = { failure: 'cancelled', message: 'The run ended.' } as const;
    this.end({ type: 'tool:cancelled', at: this.now, error });
  }

  /** The process shuts down. A tool that has had no effect yet stops. */
  interrupt(): void {
    if (!this.isOpen || !this.hasSlot || this.isInterrupted) return;
    this.isInterrupted = true;
    if (!this.isRunning && this.isExecutingNow) this.report({ type: 'tool:interrupted', at: this.now });
  }

  /** @returns false if the call waits for no such decision */
  decide(action: RunAction): boolean {
    const { wait, afterWait } = this;
    if (afterWait === undefined || !this.isOpen) return false;
    if (action.kind === 'submit' ? wait === 'approval' : wait === 'external') return false;
    this.wait = undefined;
    this.afterWait = undefined;
    this.later(() => afterWait(action));
    if ('by' in action) this.report({ type: 'tool:decided', at: action.by.at, by: action.by });
    return true;
  }

  /** The run that the call has started has answered. */
  onChildEnded(): void {
    if (this.wait === 'external') this.end({ type: 'tool:completed', at: this.now, result: 'by a run' });
  }

  private get now(): number {
    return this.session.world.steps;
  }

  private get isExecutingNow(): boolean {
    return this.session.state.calls.get(this.id)?.state === 'executing';
  }

  private begin(): void {
    if (!this.isOpen) return;
    const { call, tool } = this;
    const isUncertain = isExecuting(call) && tool.idempotent !== true && !isExternalTool(tool);
    if (!needsReview(call) && !isUncertain) {
      this.validate();
      return;
    }
    if (!needsReview(call)) this.report({ type: 'tool:needs_review', at: this.now, expiresAt: Infinity });
    this.accept();
    this.await('review', (action) => {
      if (action.kind === 'approve') {
        this.isRerunApproved = true;
        this.session.world.onRerunApproved(this.id);
        this.validate();
      } else this.settleBy(action);
    });
  }

  private validate(): void {
    if (!this.isOpen) return;
    const { call, tool } = this;
    if (this.planned.outcome === 'invalid') {
      this.fail('invalid-arguments');
      return;
    }
    this.accept();
    const mayAsk = isPending(call) && call.isApproved !== true && tool.needsApproval === true;
    if (!needsApproval(call) && !mayAsk) {
      this.run();
      return;
    }
    if (isPending(call)) this.report({ type: 'tool:approval_required', at: this.now, expiresAt: Infinity });
    this.await('approval', (action) => {
      if (action.kind === 'approve') this.run();
      else this.settleBy(action);
    });
  }

  private run(): void {
    if (!this.isOpen) return;
    if (!isExternalTool(this.tool)) {
      this.session.slots(this.call.blocking).acquire(() => this.later(() => this.takeSlot()));
      return;
    }
    this.markExecuting(Infinity);
    this.await('external', (action) => this.settleBy(action));
    if (this.tool.kind === 'run')
      this.session.writer.flushAndVerify(() => {
        if (this.isOpen) this.session.world.startChild(this.id);
      });
  }

  private takeSlot(): void {
    const { session, call } = this;
    if (!this.isOpen || session.process.isDraining) {
      session.slots(call.blocking).release();
      return;
    }
    this.hasSlot = true;
    this.markExecuting();
    session.awaitStart(this.id, () => this.later(() => this.execute()));
  }

  private execute(): void {
    const { session, planned, id } = this;
    if (!this.isOpen || this.isInterrupted) {
      if (this.isOpen && this.isExecutingNow) this.report({ type: 'tool:interrupted', at: this.now });
      return;
    }
    this.isRunning = true;
    session.world.onEffect(this.call);
    const { progress = 0, detaches, outcome } = planned;
    for (let count = 1; count <= progress; count += 1)
      this.later(() => {
        if (this.isOpen) this.report({ type: 'tool:progress', at: this.now, fraction: count / 4 });
      });
    if (detaches === true)
      this.later(() => {
        if (this.isOpen && this.call.blocking) this.report({ type: 'tool:detached', at: this.now });
      });
    session.later('tool', () => {
      switch (outcome) {
        case 'ok':
        case 'invalid':
          this.end({ type: 'tool:completed', at: this.now, result: `result of ${id}` });
          break;
        case 'fails':
          this.fail('threw');
          break;
        case 'timeout':
        case 'late': {
          this.hasTimedOut = this.isOpen;
          this.end({ type: 'tool:timeout', at: this.now, error: { failure: 'timeout', message: 'Timed out.' } });
          if (outcome === 'late')
            session.later('tool', () => {
              if (this.hasTimedOut) this.report({ type: 'tool:late', at: this.now, result: 'late' });
            });
          break;
        }
      }
    });
  }

  private settleBy(action: RunAction): void {
    if (action.kind === 'reject') this.fail('rejected');
    else if (action.kind === 'submit' && 'output' in action.result)
      this.end({ type: 'tool:completed', at: this.now, result: String(action.result.output) });
    else this.fail('threw');
  }

  private markExecuting(expiresAt?: number): void {
    const { call } = this;
    const expiry = expiresAt === undefined ? {} : { expiresAt };
    if (!isExecuting(call) || this.isRerunApproved) this.report({ type: 'tool:executing', at: this.now, ...expiry });
    else if (expiresAt !== undefined && waitOf(call) === undefined)
      this.report({ type: 'tool:awaiting_result', at: this.now, expiresAt });
  }

  private fail(failure: ToolFailure): void {
    // An interrupted tool whose effect is unknown stays as it is, for the next process.
    if (this.isInterrupted) return;
    this.end({ type: 'tool:failed', at: this.now, error: { failure, message: failure } });
  }

  private end(event: ToolEvent): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.afterWait = undefined;
    this.report(event);
    if (this.hasSlot) this.session.slots(this.call.blocking).release();
    this.accept();
  }

  /** The call of a tool that is not blocking was accepted, or is over. */
  private accept(): void {
    if (this.isAccepted || this.call.blocking) return;
    this.isAccepted = true;
    this.later(() => this.session.dispatch({ type: 'callAccepted', callId: this.id }));
  }

  private await(kind: CallWaitKind, then: (action: RunAction) => void): void {
    if (this.session.isClosed) return;
    this.wait = kind;
    this.afterWait = (action) => {
      if (this.isOpen) then(action);
    };
    const now = this.session.state.calls.get(this.id);
    if (now !== undefined && !isSettled(now) && (acceptsDecision(now) || kind === 'external'))
      this.session.hearOfDecision(now);
  }

  private report(event: ToolEvent): void {
    this.session.dispatch({ type: 'callChanged', callId: this.id, event });
  }

  private later(then: () => void): void {
    this.session.later('call', then);
  }
}
