/**
 * Executes one run: performs the effects that `decideRun` decides on, and turns what comes of them into events. It
 * decides nothing itself. A run that waits holds no more than its state. Whatever is done to a run from outside enters
 * here, and goes on detached from its caller's async context.
 */
import { isFinished, toRunResult } from '../../../domain/entities/Run';
import type { RunResult } from '../../../domain/entities/Run';
import type { ToolCall } from '../../../domain/entities/Tool';
import { isLLMError, LLMAbortedError, LLMTimeoutError } from '../../../domain/errors/LLMErrors';
import type { LLMError } from '../../../domain/errors/LLMErrors';
import { LeaseLostError } from '../../../domain/errors/LeaseLostError';
import {
  isAtRest,
  isCounted,
  isExternalCall,
  isIdle,
  isOver,
  isStepping,
  mayHaveChildren,
} from '../../../domain/run/ActiveRun';
import type { ActiveRun, RunPhase } from '../../../domain/run/ActiveRun';
import { decideRun } from '../../../domain/run/decideRun';
import type { RunEffect } from '../../../domain/run/RunEffect';
import type { Barrier, RunEvent } from '../../../domain/run/RunEvent';
import type { Spending } from '../../../domain/run/runLimits';
import type { ListenedToolCall } from '../../../domain/types/AgentEvents';
import type { LLMResponse } from '../../../domain/types/ResponsesAPITypes';
import type { RunAction } from '../../../domain/types/RunRecords';
import { freezeDeep } from '../../../domain/util/freezeDeep';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import { unreachable } from '../../../domain/util/unreachable';
import { currentLogIds } from '../../../../../log/logWriter';
import type { LogIds } from '../../../../../log/logWriter';
import { estimateTokens } from '../routing/estimateUsage';
import { withLogIds } from '../shared/logIds';
import { runDetached } from '../shared/runDetached';
import { throughOutages } from '../shared/throughOutages';
import { RunStoreWriter } from './durable/RunStoreWriter';
import type { WriterOwner } from './durable/RunStoreWriter';
import { StoredContent } from './durable/StoredContent';
import { ModelCaller } from './ModelCaller';
import { RunCancellation, toCancellation } from './RunCancellation';
import { RunCompletion } from './RunCompletion';
import type { RunContext } from './RunContext';
import { RunDeadline } from './RunDeadline';
import type { RunEventTarget } from './RunEventTarget';
import { toRunError } from './toRunError';
import type { DeadlineOwner } from './RunDeadline';
import { toAgentEvent } from './toAgentEvent';
import { ToolRunner } from './ToolRunner';

type Published = Extract<RunEffect, { readonly type: 'publish' | 'publishCall' }>;

export class RunInterpreter implements RunEventTarget, WriterOwner, DeadlineOwner {
  /** Undefined if runs are not stored. */
  readonly writer: RunStoreWriter | undefined;
  private readonly context: RunContext;
  private readonly promises: RunCompletion;
  private readonly cancellation = new RunCancellation();
  private readonly deadline: RunDeadline;
  private readonly model: ModelCaller;
  private readonly tools: ToolRunner;
  /** Undefined if runs are not stored. */
  private readonly content: StoredContent | undefined;
  /** The log ids of the caller that started the run in this process, and the run's own. */
  private readonly logIds: LogIds;
  private isPublishing = false;
  /** What listeners have caused while events were published. */
  private raised: RunEvent[] | undefined;
  private isStepping = false;
  private isTimed = false;

  constructor(context: RunContext) {
    this.context = context;
    const { run, limits, restored, returnsEarly } = context;
    this.logIds = { ...currentLogIds(), run: run.executionId };
    this.promises = new RunCompletion(returnsEarly);
    this.writer = context.journal && new RunStoreWriter(context.journal, this, context);
    this.model = new ModelCaller(context, this.cancellation, this);
    this.content = this.writer && new StoredContent(context, this.writer, this.model.compactor, this);
    this.tools = new ToolRunner(context, this.cancellation, this.writer, this);
    this.deadline = new RunDeadline(limits.runTimeout, restored?.elapsedMs ?? 0, this);
    if (restored?.hasInterruptedModelCall === true) this.model.billInterrupted();
  }

  get state(): ActiveRun {
    return this.context.run.current;
  }

  private get phase(): RunPhase {
    return this.state.phase;
  }

  /** Settles when the run ends, with its last answer or its error. */
  get completion(): Promise<RunResult> {
    return this.promises.ended;
  }

  /** Whether the run has ended, or waits only for people and other services. */
  get isAtRest(): boolean {
    return isAtRest(this.state);
  }

  /** Whether neither the model nor a tool works for the run in this process, and no step is under way. */
  get isIdle(): boolean {
    return isIdle(this.state);
  }

  /** Milliseconds that count against the deadline. */
  get worked(): number {
    return this.deadline.elapsedMs;
  }

  isExternal(call: ToolCall): boolean {
    return isExternalCall(this.state, call);
  }

  /**
   * Resolves with the last answer or, for runs that return early, with the first. Rejects with the error that ended
   * the run.
   */
  run(): Promise<RunResult> {
    const { options, restored, endError } = this.context;
    this.detached(() => {
      options.signal?.addEventListener('abort', this, { once: true });
      const error = options.signal?.aborted === true ? toCancellation(options.signal.reason) : endError;
      this.dispatch({ type: 'started', at: Date.now(), isTakenOver: restored !== undefined, error });
    });
    return this.promises.returned;
  }

  abort(reason: unknown): void {
    this.detached(() => this.dispatch({ type: 'cancelled', error: toCancellation(reason) }));
  }

  /** The caller's signal was aborted. */
  handleEvent(): void {
    this.abort(this.context.options.signal?.reason);
  }

  onTimeout(): void {
    this.abort(new LLMTimeoutError(`The run took longer than ${this.context.limits.runTimeout} ms.`));
  }

  onBroken(error: unknown): void {
    if (error instanceof LeaseLostError) this.abandon(error);
    else this.abort(error);
  }

  /** What the store keeps a run waiting for is no time of the run. */
  onStoreOutage(isOut: boolean): void {
    this.deadline.suspend(isOut);
  }

  /** Stops the run in this process after its lease was lost. Another one continues it. */
  abandon(error: LeaseLostError): void {
    this.detached(() => this.dispatch({ type: 'leaseLost', error }));
  }

  /** Whatever killed the run's earlier owners did not kill this one. */
  markProgress(): void {
    this.dispatch({ type: 'progressMade' });
  }

  heartbeat(): void {
    const { state } = this;
    this.writer?.heartbeat();
    this.content?.heartbeat(
      isAtRest(state) && !isFinished(state.status) && !isStepping(state) && state.error === undefined,
    );
  }

  /** @returns false if the run waits for no such decision */
  apply(action: RunAction): boolean {
    switch (action.kind) {
      case 'signal':
        this.context.signals.arrived(this.context.run.executionId);
        return true;
      case 'message':
        this.detached(() => this.dispatch({ type: 'messageSent', when: action.when }));
        return true;
      case 'cancel':
        this.abort(new LLMAbortedError('The run was cancelled.'));
        return true;
      default:
        return this.detached(() => this.tools.decide(action));
    }
  }

  /** Calls back when the run has ended, but not when it was only abandoned here. */
  onEnd(callback: () => void): void {
    const onSettled = (): void => {
      if (this.state.phase !== 'left') callback();
    };
    this.completion.then(onSettled, onSettled);
  }

  detached<T>(work: () => T): T {
    const { observer } = this.context;
    const observed = observer === undefined ? work : (): T => observer.within(work);
    return runDetached(() => withLogIds(this.logIds, observed));
  }

  async stored(): Promise<void> {
    await this.writer?.flushAndVerifyLease();
  }

  /** Listeners hear of an event before what follows from it is done, and what they cause comes before that. */
  dispatch(event: RunEvent): void {
    if (this.isPublishing) {
      this.raised = [...(this.raised ?? []), event];
      return;
    }
    const { run } = this.context;
    const { state, effects } = decideRun(run.current, event);
    run.current = state;
    this.isPublishing = true;
    for (const effect of effects) if (effect.type === 'publish' || effect.type === 'publishCall') this.publish(effect);
    this.isPublishing = false;
    const { raised } = this;
    this.raised = undefined;
    if (raised !== undefined) for (const each of raised) this.dispatch(each);
    for (const effect of effects) if (effect.type !== 'publish' && effect.type !== 'publishCall') this.perform(effect);
    this.follow(run.current);
  }

  /** The deadline runs while the model or a tool works, and pauses while only people and other services are awaited. */
  private follow(state: ActiveRun): void {
    const isStep = isStepping(state);
    if (isStep !== this.isStepping) {
      this.isStepping = isStep;
      if (isStep) this.context.work.beginStep(this);
      else this.context.work.endStep(this);
    }
    const isTimed = isCounted(state);
    if (isTimed === this.isTimed) return;
    this.isTimed = isTimed;
    if (isTimed) this.deadline.resume();
    else this.deadline.pause();
  }

  private publish(effect: Published): void {
    const { publisher, run } = this.context;
    const { seq, call } = effect;
    if (!publisher.hears(effect.type === 'publish' ? effect.body.type : effect.event.type)) return;
    const body = effect.type === 'publish' ? effect.body : toAgentEvent(effect.call, effect.event);
    if (body === undefined) return;
    const sent = { executionId: run.executionId, at: Date.now(), seq, ...body };
    // Not enumerable, so that it is neither stored nor sent: the event's own fields describe the change.
    if (call !== undefined) Object.defineProperty(sent, 'toolCall', { get: () => toListenedCall(call) });
    publisher.publish(sent);
  }

  /** An effect of a phase that is over by now is not performed. */
  private perform(effect: Exclude<RunEffect, Published>): void {
    const { state } = this;
    switch (effect.type) {
      case 'save':
        this.writer?.schedule();
        return;
      case 'persist':
        this.persist(effect.barrier);
        return;
      case 'clearTakeovers':
        this.writer?.takeoversCleared();
        return;
      case 'answer':
        this.answer(effect.response);
        return;
      case 'startTool':
        if (state.error === undefined && !isOver(state)) this.tools.start(effect.callId);
        return;
      case 'checkUser':
        if (state.phase === 'starting') this.checkUser();
        return;
      case 'check':
        if (state.phase === 'checking') this.check();
        return;
      case 'fitHistory':
        if (state.phase === 'fitting') this.model.fitHistory();
        return;
      case 'callModel':
        if (state.phase === 'calling') void this.model.call();
        return;
      case 'interruptModel':
        if (state.phase === 'calling') this.model.interrupt();
        return;
      case 'takeMessages':
        this.detached(() => void this.takeMessages(effect.isAfterAnswer));
        return;
      case 'endTurn':
        this.detached(() => void this.endTurn());
        return;
      case 'resume':
        this.detached(() => void this.resume());
        return;
      case 'stopWork':
        this.cancellation.cancel(effect.error);
        this.dispatch({ type: 'workStopped', at: Date.now() });
        return;
      case 'prepareEnd':
        void this.prepareEnd();
        return;
      case 'cancelChildren':
        this.detached(() => void this.cancelChildren());
        return;
      case 'saveEnd':
        this.saveEnd(effect.error);
        return;
      case 'settle':
        this.settle(effect.outcome);
        return;
      case 'leave':
        this.leave(effect.error);
        return;
      default:
        unreachable(effect);
    }
  }

  private persist(barrier: Barrier): void {
    const onStored = (): void => this.dispatch({ type: 'persisted', at: Date.now(), barrier });
    const isCall = barrier.before === 'call';
    const stored = isCall ? this.writer?.beforeModelCall() : this.writer?.flushAndVerifyLease();
    if (stored === undefined) onStored();
    else if (isCall) this.cancellation.race(stored).then(onStored, (error: unknown) => this.model.failed(error));
    // A writer that fails has ended the run, or lost it.
    else stored.then(onStored, () => undefined);
  }

  private answer(response: LLMResponse): void {
    const { run, returnsEarly } = this.context;
    if (!returnsEarly) return;
    if (!this.promises.answer(() => toRunResult(run.report(), response))) run.followUps.push(response);
  }

  private checkUser(): void {
    const onChecked = (): void => this.dispatch({ type: 'userChecked', at: Date.now() });
    const check = this.userCheck();
    if (check === undefined) onChecked();
    else check.then(onChecked, (error: unknown) => this.fail(error));
  }

  private check(): void {
    const { work } = this.context;
    if (work.isDraining) {
      this.dispatch({ type: 'checked', isDraining: true, seesImages: false });
      return;
    }
    const onChecked = (below?: Spending['below']): void =>
      this.dispatch({
        type: 'checked',
        isDraining: false,
        seesImages: this.seesImages(this.state.lateResults),
        ...this.spending(below),
      });
    const userCheck = this.userCheck();
    const below = this.spentBelow();
    if (userCheck === undefined && below === undefined) onChecked();
    else
      this.cancellation
        .race(Promise.all([userCheck, below]))
        .then(([, spent]) => onChecked(spent))
        .catch((error: unknown) => this.fail(error));
  }

  /** Checks that the user of a run that was started from outside still exists. @throws LLMAbortedError */
  private userCheck(): Promise<void> | undefined {
    const { run, options, isUserRemoved } = this.context;
    if (isUserRemoved === undefined || options.origin === undefined || options.origin.source === 'job')
      return undefined;
    return this.cancellation.race(isUserRemoved(run.userId)).then((isRemoved) => {
      if (isRemoved)
        throw new LLMAbortedError(`The run was cancelled because its user "${run.userId}" no longer exists.`);
    });
  }

  /** What the runs below this one have spent, if a budget limits that. */
  private spentBelow(): Promise<NonNullable<Spending['below']>> | undefined {
    const { run, limits, children } = this.context;
    if (limits.budget === undefined || !mayHaveChildren(run.current)) return undefined;
    return throughOutages(
      () => children.spentBelow(run.executionId),
      () => !this.cancellation.aborted,
    );
  }

  private spending(below: Spending['below']): Spending {
    const { limits, options, provider } = this.context;
    if (limits.budget === undefined) return {};
    const price = limits.budget.money === undefined ? undefined : provider.getCapabilities(options.model).price;
    return { nextTokens: estimateTokens(this.model.history()), price, below };
  }

  /**
   * Asked only if one of the results has images. The next model call reports a provider that is gone.
   * @param callIds whose results the model receives next
   */
  private seesImages(callIds: readonly string[]): boolean {
    const { provider, options } = this.context;
    const { calls } = this.state;
    if (!callIds.some((id) => 'images' in (calls.get(id) ?? {}))) return false;
    try {
      return provider.getCapabilities(options.model).supportsVision;
    } catch {
      return false;
    }
  }

  private async takeMessages(isAfterAnswer: boolean): Promise<void> {
    const { messages, run } = this.context;
    const { executionId } = run;
    try {
      for (;;) {
        const lease = this.writer?.lease ?? { executionId, fence: 0 };
        const taken = await throughOutages(
          () => messages.take(lease, isAfterAnswer),
          () => !isOver(this.state),
        );
        if (taken !== undefined) {
          this.dispatch({ type: 'messagesTaken', ...taken });
          return;
        }
        // The run has another owner, which the writer then finds, or its lease was renewed meanwhile.
        await this.writer?.verifyLease();
      }
    } catch (error) {
      if (!(error instanceof LeaseLostError)) this.fail(error);
    }
  }

  private async endTurn(): Promise<void> {
    // Results that arrive together are delivered together.
    for (let task = 0; task < SETTLING_TASKS; task += 1) await SETTLED;
    if (this.state.transcript === undefined && !(await this.hasContent())) return;
    const { turn = [] } = this.state;
    this.dispatch({ type: 'turnEnded', seesImages: this.seesImages(turn.map(({ id }) => id)) });
  }

  private async resume(): Promise<void> {
    // Results that arrive together are delivered together.
    for (let task = 0; task < SETTLING_TASKS; task += 1) await SETTLED;
    const { isDraining } = this.context.work;
    const isMissing = !isDraining && this.state.transcript === undefined;
    if (isMissing && !(await this.hasContent())) return;
    this.dispatch({ type: 'resumed', isDraining });
  }

  private async prepareEnd(): Promise<void> {
    if (await this.hasContent()) this.dispatch({ type: 'endPrepared' });
  }

  /** Loads what only the store has. @returns false if the run was abandoned because it cannot be read */
  private async hasContent(): Promise<boolean> {
    try {
      await this.content?.load();
      return true;
    } catch (error) {
      if (error instanceof LeaseLostError) this.abandon(error);
      else this.fail(error);
      return false;
    }
  }

  /**
   * Cancels the runs that calls of this one have started and that still go on. Before the end is recorded: until then,
   * whoever takes the run over does it again.
   */
  private async cancelChildren(): Promise<void> {
    const { run, children } = this.context;
    const { phase } = this;
    // The run may fail, or be lost, meanwhile.
    const isWanted = (): boolean => this.phase === phase;
    this.deadline.pause();
    // A process that takes the run over meanwhile reads the error, and ends the run likewise.
    if (phase === 'ending') await this.writer?.flush().catch(() => undefined);
    try {
      if (isWanted()) await throughOutages(() => children.cancelAll(run.executionId), isWanted);
    } catch (cause) {
      const message = 'The runs that it has started cannot be cancelled. The run continues once they can.';
      if (isWanted()) this.abandon(new LeaseLostError(message, { cause }));
    }
    if (isWanted()) this.dispatch({ type: 'childrenCancelled' });
  }

  /** However long the store takes, the run neither times out nor waits for decisions any more. */
  private saveEnd(error: LLMError | undefined): void {
    this.deadline.pause();
    if (error !== undefined) this.tools.close();
    const onStored = (isStored: boolean): void => {
      if (isStored) this.dispatch({ type: 'persisted', at: Date.now(), barrier: { before: 'end' } });
      else {
        this.deadline.resume();
        this.dispatch({ type: 'endRefused' });
      }
    };
    if (this.writer === undefined) {
      const { run, messages } = this.context;
      onStored(error !== undefined || messages.end?.(run.executionId, run.current.sent) !== false);
      return;
    }
    const summary = error && { code: error.code, message: error.message, retryable: error.retryable };
    this.writer
      .finish({ endedAt: Date.now(), ...omitUndefined({ error: summary }) })
      .then(onStored, (thrown: unknown) => this.dispatch({ type: 'leaseLost', error: toRunError(thrown) }));
  }

  private settle(outcome: LLMResponse | LLMError): void {
    const { run } = this.context;
    this.close();
    if (isLLMError(outcome)) {
      outcome.run = run.report();
      run.followUps.close(outcome);
      this.promises.reject(outcome);
    } else {
      this.promises.resolve(toRunResult(run.report(), outcome));
      run.followUps.close();
    }
  }

  /** Emits nothing and writes nothing any more. */
  private leave(error: LLMError): void {
    const { observer, journal } = this.context;
    this.writer?.stop();
    observer?.left();
    this.cancellation.cancel(error);
    journal?.runs.onLeaseLost(journal.lease.executionId);
    this.close();
    this.promises.reject(error);
  }

  private close(): void {
    this.context.options.signal?.removeEventListener('abort', this);
    this.deadline.pause();
    this.tools.close();
  }

  private fail(thrown: unknown): void {
    this.dispatch({ type: 'cancelled', error: toRunError(thrown) });
  }
}

/** How many tasks of the microtask queue a run leaves to results that arrive together with one. */
const SETTLING_TASKS = 2;
const SETTLED = Promise.resolve();

/** A copy, so that no listener can change the run. Few listeners read it. */
function toListenedCall(call: ToolCall): ListenedToolCall {
  const named = { name: call.name, arguments: call.arguments };
  return freezeDeep(Object.defineProperty({ ...call }, 'function', { value: named })) as ListenedToolCall;
}
