/**
 * A run in one simulated process, from its start or takeover to its end, or until the process loses it: performs the
 * effects of its decisions as `RunInterpreter` does, but leaves to the scheduler when each of them ends.
 */
import { isFinished } from '../../../imports/business/ai/domain/entities/Run';
import { waitOf } from '../../../imports/business/ai/domain/entities/Tool';
import type { ToolCall } from '../../../imports/business/ai/domain/entities/Tool';
import type { LLMError } from '../../../imports/business/ai/domain/errors/LLMErrors';
import type { ActiveRun } from '../../../imports/business/ai/domain/run/ActiveRun';
import type { RunEffect } from '../../../imports/business/ai/domain/run/RunEffect';
import type { Barrier, RunEvent } from '../../../imports/business/ai/domain/run/RunEvent';
import type { RunAction } from '../../../imports/business/ai/domain/types/RunRecords';
import type { RestoredRun } from '../../../imports/business/ai/application/services/runs/durable/restoreRun';
import { decisionId } from '../../../imports/business/ai/application/services/runs/durable/RemoteRuns';
import { checkRequest } from './checkRequest';
import { areSame, checkRunStored, checkStored } from './checkStored';
import { DecisionCheck } from './DecisionCheck';
import { EventOrder } from './EventOrder';
import type { Pace } from './MachinePlan';
import { PART, respond, TOKENS_PER_CALL, USAGE } from './ScriptedModel';
import { ABORTED, LOST, MODEL_FAILED } from './simulatedErrors';
import { SimulatedCall } from './SimulatedCall';
import type { CallSession } from './SimulatedCall';
import { Slots } from './Slots';
import { StateWriter } from './StateWriter';
import type { WrittenSession } from './StateWriter';
import { ensure } from './Violation';
import type { SessionWorld } from './SessionWorld';
import type { ProcessState } from './SimulatedProcess';

export class RunSession implements CallSession, WrittenSession {
  readonly world: SessionWorld;
  readonly process: ProcessState;
  readonly initial: ActiveRun;
  state: ActiveRun;
  readonly writer: StateWriter;
  readonly order: EventOrder;
  /** The events that the session was given, if they are kept. */
  readonly events: RunEvent[] = [];
  readonly isTakenOver: boolean;
  /** The run does nothing more here. */
  isOver = false;
  /** Nobody can decide about its calls any more. */
  isClosed = false;
  /** The error that has ended it, or was asked to, before it had ended. */
  cancelledWith: LLMError | undefined;
  private readonly calls: SimulatedCall[] = [];
  private readonly decisions: DecisionCheck;
  private readonly blocking: Slots;
  private readonly nonBlocking: Slots;
  private isPublishing = false;
  private raised: RunEvent[] | undefined;
  private isLeaving = false;
  /** The iteration for which the model was called last. */
  private called = 0;
  /** Counts model calls, and those that were interrupted twice. */
  private modelCalls = 0;

  constructor(world: SessionWorld, process: ProcessState, fence: number, state: ActiveRun, restored?: RestoredRun) {
    this.world = world;
    this.process = process;
    this.initial = state;
    this.state = state;
    this.isTakenOver = restored !== undefined;
    this.order = new EventOrder(state, process.name, this.isTakenOver);
    this.decisions = new DecisionCheck(world.machine, state, this.isTakenOver);
    this.blocking = new Slots(state.rules.limits.maxParallelTools);
    this.nonBlocking = new Slots(state.rules.limits.maxParallelTools);
    const storedItems = restored?.state.transcript?.length ?? state.rules.inputLength;
    this.writer = new StateWriter(this, fence, storedItems, restored);
    if (restored?.hasInterruptedModelCall === true) this.dispatch({ type: 'modelBilled', bill: BILL });
  }

  get hasProgressed(): boolean {
    return this.decisions.hasProgressed;
  }

  get isCancelled(): boolean {
    return this.cancelledWith !== undefined;
  }

  start(error: LLMError | undefined): void {
    this.dispatch({ type: 'started', at: this.world.steps, isTakenOver: this.isTakenOver, error });
    for (const action of this.world.store.commands.values()) this.later('person', () => this.apply(action));
  }

  later(pace: Pace, then: () => void): void {
    this.world.scheduler.add(pace, this.process, then);
  }

  slots(isBlocking: boolean): Slots {
    return isBlocking ? this.blocking : this.nonBlocking;
  }

  /** @param then once the start of the tool is stored */
  awaitStart(callId: string, then: () => void): void {
    const { world, writer, state } = this;
    writer.flushAndVerify(() => {
      if (this.isOver || world.machine.isOver(this.state)) return;
      if (this.state.error === undefined) checkStored(world.store, this, state, { before: 'tool', callId });
      then();
    });
  }

  /** Asks the run to end. */
  cancel(error: LLMError): void {
    this.dispatch({ type: 'cancelled', error });
  }

  onLeaseLost(): void {
    this.dispatch({ type: 'leaseLost', error: LOST });
  }

  onChildEnded(callId: string): void {
    this.calls.find(({ id, isOpen }) => id === callId && isOpen)?.onChildEnded();
  }

  /** Takes in a decision that the store has. */
  apply(action: RunAction): void {
    if (this.isOver || this.process.isCut) return;
    if (action.kind === 'cancel') {
      this.cancel(ABORTED);
      return;
    }
    if (action.kind === 'message' && !this.process.isDraining)
      this.dispatch({ type: 'messageSent', when: action.when });
    if (action.kind === 'signal' || action.kind === 'message' || this.process.isDraining || this.isClosed) return;
    const call = this.state.calls.get(action.callId);
    if (call === undefined || this.world.store.commands.get(decisionId('', call)) !== action) return;
    this.calls.findLast(({ id }) => id === action.callId)?.decide(action);
  }

  /** Looks for a decision about what the call waits for now. */
  hearOfDecision(call: ToolCall): void {
    const action = this.world.store.commands.get(decisionId('', call));
    if (action !== undefined) this.later('person', () => this.apply(action));
  }

  /** Checks that the store has what there is to store, if nothing is on its way. */
  ensureStored(): void {
    const { world, process, state } = this;
    const isOwner = world.store.owner === process.name && !process.isDead && !process.isCut && !process.isDraining;
    if (this.isOver || !isOwner) return;
    // Runs that save writes are stored when they begin to wait.
    if (state.rules.durability !== 'step' && state.phase !== 'waiting') return;
    if (this.writer.isAtRest && !world.machine.isStepping(state)) checkRunStored(world.store, this);
  }

  /** Writes what was left out so far, and leaves the content of a run that waits to the store. */
  heartbeat(): void {
    const { state, writer, world } = this;
    if (this.isOver) return;
    writer.heartbeat();
    const isResting =
      world.machine.isAtRest(state) &&
      !isFinished(state.status) &&
      !world.machine.isStepping(state) &&
      !this.isCancelled;
    if (!isResting || state.transcript === undefined) return;
    if (!writer.hasStoredAll) {
      writer.flush(() => undefined);
      return;
    }
    this.dispatch({ type: 'contentUnloaded' });
    writer.rebase(state);
  }

  /** The process shuts down, and waits no longer for tools. */
  interrupt(): void {
    for (const call of this.calls) if (!this.isOver) call.interrupt();
  }

  leaveIfIdle(): void {
    const { world, writer } = this;
    if (this.isLeaving || this.isOver || !world.machine.isIdle(this.state)) return;
    this.isLeaving = true;
    this.later('process', () => {
      this.dispatch({ type: 'progressMade' });
      writer.flush(() => {
        this.isLeaving = false;
        if (this.isOver || !world.machine.isIdle(this.state)) return;
        if (this.process.isCut || !world.store.release(writer.fence, this.process.name)) return;
        world.note(() => `${this.process.name} leaves the run to others`);
        this.onLeaseLost();
      });
    });
  }

  dispatch(event: RunEvent): void {
    const { world, process } = this;
    const hasDied = (): boolean => process.isDead;
    if (hasDied()) return;
    if (this.isPublishing) {
      (this.raised ??= []).push(event);
      return;
    }
    world.note(() => `${process.name} ${describe(event)}`);
    if (world.keepsEvents) this.events.push(event);
    const before = this.state;
    const { state, effects } = world.machine.decideRun(before, event);
    this.state = state;
    this.decisions.decided(before, event, state, effects);
    this.isPublishing = true;
    for (const effect of effects) {
      if (hasDied()) return;
      this.publish(effect);
    }
    this.isPublishing = false;
    const { raised } = this;
    this.raised = undefined;
    if (raised !== undefined) for (const each of raised) this.dispatch(each);
    for (const effect of effects) {
      if (effect.type === 'publish' || effect.type === 'publishCall') continue;
      world.onEffectOf(process);
      if (hasDied()) return;
      this.perform(effect);
    }
    if (process.isDraining) this.leaveIfIdle();
  }

  private publish(effect: RunEffect): void {
    const { world } = this;
    if (effect.type === 'publish') {
      world.note(() => `${this.process.name}   ${effect.seq} ${effect.body.type} ${effect.call?.id ?? ''}`);
      this.order.published(effect.seq, effect.body, effect.call);
      world.onPublished(this, effect.body.type);
    } else if (effect.type === 'publishCall') {
      const { call, event, seq } = effect;
      world.note(() => `${this.process.name}   ${seq} ${event.type} ${call.id}`);
      this.order.publishedCall(seq, event, call);
      if (SETTLING.has(event.type) && this.state.acknowledged.includes(call.id)) this.order.owes(call.id);
      if (event.type === 'tool:approval_required')
        ensure(
          world.store.call(call.id) !== undefined,
          () => `A person is asked about ${call.id}, which is not stored.`,
        );
      if (waitOf(call) !== undefined) {
        world.onWait(call);
        this.hearOfDecision(call);
      }
      world.onPublished(this, event.type);
    }
  }

  private perform(effect: RunEffect): void {
    const { state, world, writer } = this;
    switch (effect.type) {
      case 'publish':
      case 'publishCall':
      case 'answer':
        return;
      case 'save':
        writer.schedule();
        return;
      case 'persist':
        this.persist(effect.barrier);
        return;
      case 'clearTakeovers':
        writer.takeoversCleared();
        return;
      case 'startTool': {
        if (state.error !== undefined || world.machine.isOver(state)) return;
        this.decisions.goesOn();
        const call = state.calls.get(effect.callId);
        ensure(call !== undefined, () => `The tool of the unknown call ${effect.callId} is started.`);
        this.calls.push(new SimulatedCall(this, call!));
        return;
      }
      case 'checkUser':
        this.soon('starting', () => this.dispatch({ type: 'userChecked', at: world.steps }));
        return;
      case 'check':
        this.decisions.goesOn();
        this.soon('checking', () => this.check());
        return;
      case 'fitHistory':
        this.soon('fitting', () => this.fitHistory());
        return;
      case 'callModel':
        if (state.phase === 'calling') this.callModel();
        return;
      case 'interruptModel':
        this.interruptModel();
        return;
      case 'takeMessages':
        this.later('store', () => this.takeMessages(effect.isAfterAnswer));
        return;
      case 'endTurn':
        this.withContent(() => this.dispatch({ type: 'turnEnded', seesImages: false }));
        return;
      case 'resume':
        if (this.process.isDraining) this.later('process', () => this.dispatch({ type: 'resumed', isDraining: true }));
        else this.withContent(() => this.dispatch({ type: 'resumed', isDraining: this.process.isDraining }));
        return;
      case 'stopWork':
        this.stopWork(effect.error);
        return;
      case 'prepareEnd':
        this.withContent(() => this.dispatch({ type: 'endPrepared' }));
        return;
      case 'cancelChildren':
        this.cancelChildren();
        return;
      case 'saveEnd':
        this.isClosed = effect.error !== undefined;
        this.saveEnd(effect.error);
        return;
      case 'settle':
        ensure(
          state.phase === 'ended' && state.transcript !== undefined && this.order.end !== undefined,
          () => 'The run is reported before it has ended, or without what it did.',
        );
        this.isClosed = true;
        this.isOver = true;
        // What is still under way may be heard of later.
        if (world.random.chance(0.1)) this.later('process', () => this.dispatch({ type: 'modelBilled', bill: BILL }));
        return;
      case 'leave':
        this.leave();
        return;
    }
  }

  private takeMessages(isAfterAnswer: boolean): void {
    const { world, process, writer } = this;
    if (this.isOver) return;
    const taken = process.isCut ? undefined : world.store.takeMessages(writer.fence, isAfterAnswer);
    if (taken !== undefined) this.later('reply', () => this.dispatch({ type: 'messagesTaken', ...taken }));
    // The run may be claimed again just now.
    else if (process.isCut || world.store.owner === process.name)
      this.later('store', () => this.takeMessages(isAfterAnswer));
    else this.onLeaseLost();
  }

  private interruptModel(): void {
    const { modelCalls, world } = this;
    if (this.state.phase !== 'calling') return;
    // The answer may be on its way.
    this.later('process', () => {
      if (this.state.phase !== 'calling' || this.modelCalls !== modelCalls) return;
      this.modelCalls += 1;
      const item = world.plan.streams ? PART : undefined;
      this.dispatch({ type: 'modelInterrupted', at: world.steps, bill: BILL, item });
    });
  }

  /** Performs a step which is over at once, or later. An effect of a phase that is over is not performed. */
  private soon(phase: ActiveRun['phase'], step: () => void): void {
    if (this.state.phase !== phase) return;
    if (this.world.random.chance(0.5)) step();
    else this.later('process', step);
  }

  private persist(barrier: Barrier): void {
    const { world, writer, state } = this;
    const pass = (): void => {
      // What is stored before the end is not verified: nothing follows it.
      if (this.state.error === undefined && !this.isOver) checkStored(world.store, this, state, barrier);
      this.dispatch({ type: 'persisted', at: world.steps, barrier });
    };
    if (barrier.before === 'call' && state.rules.durability !== 'step') writer.verifyOwnership(pass);
    else writer.flushAndVerify(pass);
  }

  private check(): void {
    const { world } = this;
    const isDraining = this.process.isDraining;
    const hasBudget = this.state.rules.limits.budget !== undefined;
    this.dispatch(
      hasBudget && !isDraining
        ? { type: 'checked', isDraining, seesImages: false, nextTokens: NEXT_TOKENS }
        : { type: 'checked', isDraining, seesImages: false },
    );
    if (world.random.chance(0.1)) this.heartbeat();
  }

  private fitHistory(): void {
    const { world, state } = this;
    if (world.modelFault('compact')) {
      const length = state.transcript?.length ?? 0;
      const count = (state.compaction?.count ?? 0) + 1;
      this.dispatch({
        type: 'historyCompacted',
        compaction: { count, length, summarizedUpTo: 0, clearedUpTo: length },
        report: {
          ...{ type: 'history:compacted', iteration: state.iterations + 1, model: 'm', reason: 'window' },
          ...{
            strategy: 'portable',
            tokensBefore: 2,
            tokensAfter: 1,
            summarizedItems: 0,
            clearedItems: length,
            losses: [],
          },
        },
      });
    }
    this.dispatch({ type: 'historyFitted', at: world.steps });
  }

  private callModel(): void {
    const { world, state } = this;
    const { store, plan } = world;
    const { transcript, iterations, rules, totals } = state;
    ensure(transcript !== undefined, () => 'The model is called without a transcript.');
    if (rules.durability === 'step')
      ensure(
        store.run.isCalling && store.run.iterations === iterations && areSame(store.run.transcript, transcript!),
        () => `The model is called, but the store does not have call ${iterations} with its request.`,
      );
    const isDelivery = checkRequest(plan, transcript!);
    this.decisions.called(isDelivery);
    const { maxIterations, budget } = rules.limits;
    const counted = iterations - state.deliveries - state.countedFrom - (isDelivery ? 1 : 0);
    ensure(counted <= maxIterations, () => 'maxIterations is exceeded.');
    ensure(budget?.calls === undefined || iterations <= budget.calls, () => 'The budget of calls is exceeded.');
    // A call that is made again is the same: what its attempts have used is not checked.
    const isRepeated = this.called === iterations;
    this.called = iterations;
    ensure(
      isRepeated || budget?.tokens === undefined || totals.usage.total_tokens + NEXT_TOKENS <= budget.tokens,
      () => 'The budget of tokens is exceeded.',
    );
    const request = transcript!;
    if (plan.streams)
      this.later('model', () => {
        if (this.state.iterations === iterations) this.dispatch({ type: 'modelSaid', kind: 'text', delta: '.' });
      });
    this.modelCalls += 1;
    const { modelCalls } = this;
    this.later('model', () => {
      if (this.modelCalls === modelCalls) this.answer(request, iterations);
    });
  }

  private answer(request: NonNullable<ActiveRun['transcript']>, iterations: number): void {
    const { world } = this;
    const { modelCalls } = this;
    const at = world.steps;
    if (this.isOver) return;
    const { phase } = this.state;
    ensure(phase === 'calling' && this.state.iterations === iterations, () => 'A model call is not waited for.');
    if (this.cancelledWith !== undefined && world.random.chance(0.7)) {
      this.dispatch({ type: 'modelFailed', at, error: this.cancelledWith, bill: BILL });
      return;
    }
    const fault = world.nextModelFault();
    switch (fault) {
      case 'fail':
        this.dispatch({ type: 'modelFailed', at, error: this.cancelledWith ?? MODEL_FAILED });
        return;
      case 'refuse':
        this.dispatch({ type: 'modelRefused', at });
        return;
      case 'retry':
        this.dispatch({ type: 'modelRetried', attempt: FAILED_ATTEMPT });
        this.later('model', () => {
          if (this.modelCalls === modelCalls) this.answer(request, iterations);
        });
        return;
      default:
    }
    const response = respond(world.plan.turns, request, `r${world.nextResponse()}`);
    world.requests.set(response.id, request.length);
    this.dispatch({ type: 'modelAnswered', at, response });
  }

  private withContent(then: () => void): void {
    const loaded = (): void => {
      const { state, world } = this;
      if (state.transcript === undefined && !this.isOver) {
        if (this.process.isCut) {
          this.later('process', loaded);
          return;
        }
        if (world.store.owner !== this.process.name) {
          this.onLeaseLost();
          return;
        }
        const { run, calls } = world.store.load(false);
        this.dispatch({ type: 'contentLoaded', transcript: run.transcript, calls });
        this.writer.rebase(state);
      }
      then();
    };
    this.later('process', loaded);
  }

  private stopWork(error: LLMError): void {
    const { world } = this;
    this.stop(error);
    const { phase } = this.state;
    // A call that is not recorded yet, or under way, is given up.
    if (phase === 'recording')
      this.later('process', () => {
        if (this.state.phase === 'recording') this.dispatch({ type: 'modelFailed', at: world.steps, error });
      });
    this.dispatch({ type: 'workStopped', at: world.steps });
  }

  private stop(error: LLMError): void {
    if (this.cancelledWith !== undefined) return;
    this.cancelledWith = error;
    for (const call of this.calls) call.cancel();
  }

  private cancelChildren(): void {
    const { phase } = this.state;
    const isWanted = (): boolean => this.state.phase === phase && !this.isOver;
    const cancelAll = (): void => {
      if (!isWanted()) return;
      if (this.process.isCut) {
        this.later('process', cancelAll);
        return;
      }
      this.world.cancelChildren();
      this.later('process', () => {
        if (isWanted()) this.dispatch({ type: 'childrenCancelled' });
      });
    };
    if (phase === 'ending') this.writer.flush(cancelAll);
    else this.later('process', cancelAll);
  }

  private saveEnd(error: LLMError | undefined): void {
    const { world } = this;
    const summary = error === undefined ? {} : { error: { code: error.code, message: error.message } };
    this.writer.finish({ endedAt: world.steps, ...summary }, (isStored) =>
      this.later('process', () => {
        if (!isStored) {
          this.dispatch({ type: 'endRefused' });
          return;
        }
        ensure(world.store.hasEnded, () => 'The end is taken for stored.');
        this.dispatch({ type: 'persisted', at: world.steps, barrier: { before: 'end' } });
      }),
    );
  }

  private leave(): void {
    ensure(this.state.phase === 'left' && this.state.error === LOST, () => 'The run is left, and goes on.');
    this.isOver = true;
    this.isClosed = true;
    this.writer.stop();
    this.stop(LOST);
    this.world.note(() => `${this.process.name} has left the run`);
    this.world.onOrphaned();
  }
}

const NEXT_TOKENS = TOKENS_PER_CALL;
const FAILED_ATTEMPT = { providerId: 'p', reason: 'rate-limit', delay: 1, usage: USAGE } as const;
const BILL = { usage: USAGE, cost: {}, model: '' } as const;
const SETTLING: ReadonlySet<string> = new Set(['tool:completed', 'tool:failed', 'tool:timeout']);

function describe(event: RunEvent): string {
  switch (event.type) {
    case 'callChanged':
      return `${event.type} ${event.callId} ${event.event.type}`;
    case 'callAccepted':
      return `${event.type} ${event.callId}`;
    case 'persisted':
      return `${event.type} before ${event.barrier.before}`;
    case 'modelAnswered':
      return `${event.type} ${event.response.id}`;
    default:
      return event.type;
  }
}
