/** What must hold of each decision of a session, told from its events alone. */
import { isFinished } from '../../../imports/business/ai/domain/entities/Run';
import { isSettled } from '../../../imports/business/ai/domain/entities/Tool';
import type { ActiveRun } from '../../../imports/business/ai/domain/run/ActiveRun';
import type { RunEffect } from '../../../imports/business/ai/domain/run/RunEffect';
import type { RunEvent } from '../../../imports/business/ai/domain/run/RunEvent';
import type { Machine } from './Machine';
import { TOKENS_PER_CALL } from './ScriptedModel';
import { ensure, Violation } from './Violation';

const SETTLING: ReadonlySet<string> = new Set(['tool:completed', 'tool:failed', 'tool:timeout']);

export class DecisionCheck {
  /** Something has shown that the run does not kill its owners. */
  hasProgressed = false;
  private readonly machine: Machine;
  /** Ids of calls with which the turn need not wait. */
  private readonly accepted = new Set<string>();
  private tokens: number;
  private deliveries: number;
  /** The model call that is under way only delivers late results. */
  private isDelivery = false;
  private mayGoOn: boolean;
  /** Somebody has cancelled the run while its completion was stored. */
  private isCancelled = false;

  constructor(machine: Machine, { totals, deliveries }: ActiveRun, isTakenOver: boolean) {
    this.machine = machine;
    this.tokens = totals.usage.total_tokens;
    this.deliveries = deliveries;
    this.mayGoOn = !isTakenOver;
  }

  called(isDelivery: boolean): void {
    this.isDelivery = isDelivery;
  }

  /** The run does something. */
  goesOn(): void {
    ensure(this.mayGoOn, () => 'The run goes on before it is known whether its user exists.');
  }

  /** @throws Violation */
  decided(before: ActiveRun, event: RunEvent, state: ActiveRun, effects: readonly RunEffect[]): void {
    if (before.phase === 'ended' || before.phase === 'left') {
      const isLate = event.type === 'callChanged' && event.event.type === 'tool:late' && before.phase === 'ended';
      ensure(isLate || (state === before && effects.length === 0), () => `${event.type} has an effect after the end.`);
      return;
    }
    this.hear(before, event, state, effects);
    if (!this.machine.isStepping(state) && this.machine.isAtRest(state)) this.hasProgressed = true;
    const isCleared = before.takeovers > 0 && state.takeovers === 0;
    ensure(!isCleared || this.hasProgressed, () => 'Takeovers are forgotten although the run has made no progress.');
    ensure(state.takeovers === 0 || !this.hasProgressed, () => 'Takeovers are remembered although the run goes on.');
    ensure(
      state.totals.usage.total_tokens === this.tokens,
      () => `${state.totals.usage.total_tokens} tokens are counted of ${this.tokens}.`,
    );
    ensure(state.deliveries === this.deliveries, () => `${state.deliveries} deliveries are counted.`);
    if (state.phase === 'tools') this.ensureAwaited(state);
    if (before.phase === 'tools' && state.phase === 'answering') this.ensureAnswerable(state);
    if (state.phase === 'waiting') ensure(state.status === 'waiting', () => `The run waits, and is ${state.status}.`);
    if (state.phase === 'calling' && before.phase !== 'calling')
      ensure(state.messages.length === 0, () => 'The model is called without a message that was taken before.');
    if (state.phase === 'calling') ensure(state.status === 'running', () => `The run calls, and is ${state.status}.`);
  }

  private hear(before: ActiveRun, event: RunEvent, state: ActiveRun, effects: readonly RunEffect[]): void {
    switch (event.type) {
      case 'userChecked':
        this.mayGoOn = true;
        return;
      case 'callAccepted':
        this.accepted.add(event.callId);
        return;
      case 'callChanged':
        if (event.event.type === 'tool:detached') this.accepted.add(event.callId);
        if (SETTLING.has(event.event.type)) this.hasProgressed = true;
        return;
      case 'cancelled':
        if (before.error === undefined && !isFinished(before.status))
          ensure(state.error === event.error, () => `The cancellation during ${before.phase} has no effect.`);
        else if (before.error === undefined) this.isCancelled = true;
        return;
      case 'endRefused':
        ensure(!this.isCancelled || state.error !== undefined, () => 'The run goes on although it was cancelled.');
        return;
      case 'progressMade':
        this.hasProgressed = true;
        return;
      case 'modelBilled':
        this.tokens += TOKENS_PER_CALL;
        return;
      case 'modelInterrupted':
        this.tokens += TOKENS_PER_CALL;
        return;
      case 'messageSent':
        this.hearOfMessage(before, event, state, effects);
        return;
      case 'messagesTaken':
        this.hearMessages(before, state, effects);
        return;
      case 'modelFailed':
        if (event.bill !== undefined) this.tokens += TOKENS_PER_CALL;
        return;
      case 'modelRetried':
        if (event.attempt.usage !== undefined) this.tokens += TOKENS_PER_CALL;
        return;
      case 'modelAnswered':
        this.tokens += TOKENS_PER_CALL;
        if (before.error === undefined) this.hearAnswer(event, effects);
        return;
      case 'historyCompacted': {
        const { compaction, report } = event;
        const isTold = effects.some((effect) => effect.type === 'publish' && effect.body === report);
        ensure(state.compaction === compaction && isTold, () => 'A compaction is not noted.');
        return;
      }
      case 'contentUnloaded':
        ensure(state.transcript === undefined, () => 'The transcript is kept.');
        return;
      case 'contentLoaded':
        for (const call of event.calls) {
          const own = state.calls.get(call.id);
          const isSame = own?.state !== 'completed' || (call.state === 'completed' && own.result === call.result);
          ensure(isSame || call.state !== 'completed', () => `The result of ${call.id} is not loaded.`);
        }
        return;
      default:
    }
  }

  /** A message that is due at once is taken at once, and so is any by a run that waits. */
  private hearOfMessage(
    before: ActiveRun,
    { when }: Extract<RunEvent, { readonly type: 'messageSent' }>,
    state: ActiveRun,
    effects: readonly RunEffect[],
  ): void {
    if (before.error !== undefined || before.phase === 'suspended') return;
    const isTaken = effects.some(({ type }) => type === 'takeMessages');
    ensure(when !== 'interrupt' || isTaken, () => `A message during ${before.phase} interrupts nothing.`);
    const isWoken = state.phase === 'resuming' || before.reads > 0;
    ensure(when !== 'next' || before.phase !== 'waiting' || isWoken, () => 'The run waits on.');
  }

  private hearMessages(before: ActiveRun, state: ActiveRun, effects: readonly RunEffect[]): void {
    if (before.error !== undefined || state.messages.length === 0) return;
    const isInterrupted = effects.some(({ type }) => type === 'interruptModel');
    ensure(before.phase !== 'calling' || isInterrupted, () => 'A message does not interrupt the model.');
    const isAwaited = state.phase === 'tools' || state.phase === 'waiting';
    ensure(!isAwaited, () => `A message that was taken does not end ${before.phase}.`);
  }

  private hearAnswer(
    { response: { output, status, vendor } }: Extract<RunEvent, { readonly type: 'modelAnswered' }>,
    effects: readonly RunEffect[],
  ): void {
    this.hasProgressed = true;
    if (this.isDelivery) this.deliveries += 1;
    const isAnswer = output.length === 1 && status === 'completed' && vendor.finish_reason !== 'pause_turn';
    const answers = effects.filter(({ type }) => type === 'answer').length;
    ensure(answers === (isAnswer ? 1 : 0), () => `${answers} answers are told of.`);
  }

  /** Checks that a turn waits for something. */
  private ensureAwaited({ turn = [], calls }: ActiveRun): void {
    for (const { id } of turn) {
      const call = calls.get(id);
      if (call !== undefined && !isSettled(call) && (call.blocking || !this.accepted.has(id))) return;
    }
    throw new Violation('The turn waits for nothing.');
  }

  private ensureAnswerable({ turn = [], calls, messages }: ActiveRun): void {
    for (const { id } of turn) {
      const call = calls.get(id);
      const isOver =
        call !== undefined && (isSettled(call) || (!call.blocking && (messages.length > 0 || this.accepted.has(id))));
      ensure(isOver, () => `The turn goes on before ${id} is over, or accepted.`);
    }
  }
}
