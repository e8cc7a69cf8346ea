/**
 * Drives one run: calls the model, applies `nextStep`, runs tools, waits for late results, and ends the run exactly
 * once. Its `loop` is the only async function that advances the run; it returns when the run waits, so that a waiting
 * run holds no more than its state, and is called again when a result arrives. Whatever is done to a run from outside
 * enters here and continues detached from its caller's async context.
 */
import { isFinished } from '../../../domain/entities/Run';
import type { RunResult } from '../../../domain/entities/Run';
import type { ToolCall } from '../../../domain/entities/Tool';
import type { LLMError } from '../../../domain/errors/LLMErrors';
import { isLLMError, LLMAbortedError, LLMServerError, LLMTimeoutError } from '../../../domain/errors/LLMErrors';
import type { Item, LLMResponse } from '../../../domain/types/ResponsesAPITypes';
import type { RunCompaction } from '../../../domain/types/Compaction';
import type { RunAction } from '../../../domain/types/RunRecords';
import type { RunSums } from '../../../domain/types/RunTotals';
import type { Budget } from '../../../domain/types/RunLimits';
import { currentLogIds } from '../../../../../log/logWriter';
import type { LogIds } from '../../../../../log/logWriter';
import { withLogIds } from '../shared/logIds';
import { runDetached } from '../shared/runDetached';
import { throughOutages } from '../shared/throughOutages';
import { nextStep } from './nextStep';
import { estimateUsage } from '../routing/estimateUsage';
import { priceCall } from '../routing/priceResponse';
import { assertWithinLimits } from './runLimits';
import type { LiveRunDriver } from './LiveRun';
import { RunToolCalls } from './RunToolCalls';
import type { ToolCallObserver } from './RunToolCalls';
import { RunCompletion } from './RunCompletion';
import { RunDeadline } from './RunDeadline';
import type { DeadlineOwner } from './RunDeadline';
import { toCancellation, RunCancellation } from './RunCancellation';
import { LeaseLostError } from '../../../domain/errors/LeaseLostError';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import { RunJournal } from './durable/RunJournal';
import type { JournalOwner, OwnProgress } from './durable/RunJournal';
import type { OpenTurn } from './durable/restoreRun';
import { StoredContent } from './durable/StoredContent';
import { RunModelCalls } from './RunModelCalls';
import type { RunContext } from './RunContext';
import { runProgress } from './durable/runProgress';

const NONE: readonly Item[] = [];

export class RunLoop implements JournalOwner, ToolCallObserver, DeadlineOwner, LiveRunDriver {
  /** Undefined if runs are not stored. */
  readonly journal: RunJournal | undefined;
  readonly calls: RunToolCalls;
  private readonly context: RunContext;
  private readonly promises: RunCompletion;
  private readonly cancellation = new RunCancellation();
  private readonly deadline: RunDeadline;
  private readonly model: RunModelCalls;
  /** Undefined if runs are not stored. */
  private readonly content: StoredContent | undefined;
  /** The log ids of the caller that started the run in this process, and the run's own. */
  private readonly logIds: LogIds;
  private leaseLost: LeaseLostError | undefined;
  /** The last response called no tools. */
  private isAfterAnswer: boolean;
  /** The model has answered, and the loop has returned until a late result arrives. */
  private isWaiting = false;
  /** Calls whose results are in the transcript and go out with the next request. */
  private undeliveredCallIds: readonly string[];
  /** How often the run was taken over from an owner that died, since it last made progress. */
  private takeovers: number;

  constructor(context: RunContext) {
    this.context = context;
    this.promises = new RunCompletion(context.returnsEarly);
    const { run, limits, restored } = context;
    this.logIds = { ...currentLogIds(), run: run.executionId };
    this.isAfterAnswer = restored?.isAfterAnswer ?? false;
    this.undeliveredCallIds = restored?.undelivered ?? [];
    this.takeovers = restored?.takeovers ?? 0;
    this.journal =
      context.journal === undefined
        ? undefined
        : new RunJournal(context.journal, this, restored?.storedCalls ?? [], context.observer, {
            durability: context.durability,
            recorded: restored?.recorded,
          });
    this.model = new RunModelCalls(context, this.cancellation, this.journal, this);
    this.content = this.journal && new StoredContent(context, this.journal, this.model.compactor);
    this.calls = new RunToolCalls(context, this.cancellation, this.journal, this);
    this.deadline = new RunDeadline(limits.runTimeout, restored?.elapsedMs ?? 0, this);
    run.journal = this.journal;
    run.driver = this;
    for (const id of restored?.repaired ?? []) this.journal?.callChanged(id);
    // Calls that were open may be stored only with the run.
    const unstored = restored?.recorded?.onlyWithRun ?? run.openCalls.map(({ id }) => id);
    if (restored !== undefined) for (const id of unstored) this.journal?.callChanged(id);
    if (restored?.hasInterruptedModelCall === true) {
      // The interrupted call has cost tokens, and the call that replaces it counts as the same iteration.
      const usage = estimateUsage(this.model.history(), 0);
      run.bill.addUsage(usage, priceCall(usage, context.provider, [context.options.model]), context.options.model);
      run.iterations -= 1;
    }
  }

  /** The next model call reports a provider that is gone. */
  seesImages(): boolean {
    const { provider, options } = this.context;
    try {
      return provider.getCapabilities(options.model).supportsVision;
    } catch {
      return false;
    }
  }

  /** Settles when the run ends, with its last answer or its error. */
  get completion(): Promise<RunResult> {
    return this.promises.ended;
  }

  /** Whether the run has ended, or waits only for people and other services. */
  get isAtRest(): boolean {
    const { run } = this.context;
    return (
      isFinished(run.state) || (!run.isCalling && run.isEveryOpenCall((call) => this.calls.isWaitingForOthers(call)))
    );
  }

  /** Whether neither the model nor a tool works for the run in this process, and no step is under way. */
  get isIdle(): boolean {
    const { run, work } = this.context;
    const isDoing = (call: ToolCall): boolean => call.state === 'executing' && !this.calls.isWaitingForOthers(call);
    return !isFinished(run.state) && !work.hasStep(this) && ![...run.calls.values()].some(isDoing);
  }

  abort(reason: unknown): void {
    const error = toCancellation(reason);
    if (!this.cancellation.aborted && !isFinished(this.context.run.state))
      this.journal?.recordEndIntent(errorSummary(error));
    this.detached(() => this.cancellation.cancel(error));
    this.wake();
  }

  /** The caller's signal was aborted. */
  handleEvent(): void {
    this.abort(this.context.options.signal?.reason);
  }

  onTimeout(): void {
    this.abort(new LLMTimeoutError(`The run took longer than ${this.context.limits.runTimeout} ms.`));
  }

  /** The deadline runs while the model or a tool works, and pauses while only people and other services are awaited. */
  onTransition(): void {
    const { run } = this.context;
    if (isFinished(run.state) || this.cancellation.aborted) return;
    if (!this.isAtRest) {
      this.deadline.resume();
      return;
    }
    this.deadline.pause();
    this.markProgress();
  }

  heartbeat(): void {
    const { run, work } = this.context;
    this.journal?.heartbeat();
    this.content?.heartbeat(
      this.isAtRest && !isFinished(run.state) && !work.hasStep(this) && !this.cancellation.aborted,
    );
  }

  loadContent(): Promise<void> | undefined {
    return this.content?.load()?.catch((error: unknown) => {
      if (error instanceof LeaseLostError) this.abandon(error);
      throw error;
    });
  }

  onSettled(): void {
    this.markProgress();
  }

  get transcript(): readonly Item[] {
    const { run } = this.context;
    return run.isUnloaded ? NONE : run.transcript;
  }

  get response(): LLMResponse | undefined {
    return this.context.run.lastResponse;
  }

  get compaction(): RunCompaction | undefined {
    return this.context.run.compaction;
  }

  progress(): OwnProgress {
    return runProgress(this.context, {
      failedTurns: this.calls.failedTurns,
      worked: this.deadline.elapsedMs,
      takeovers: this.takeovers,
    });
  }

  getCall(id: string): ToolCall {
    return this.context.run.getCall(id);
  }

  onBroken(error: unknown): void {
    if (error instanceof LeaseLostError) this.abandon(error);
    else this.abort(error);
  }

  /** What the store keeps a run waiting for is no time of the run. */
  onStoreOutage(isOut: boolean): void {
    this.deadline.suspend(isOut);
  }

  /**
   * Stops the run locally after its lease was lost. Another process continues it, so no event is emitted and nothing
   * is written from here on.
   */
  abandon(lost: LeaseLostError): void {
    if (this.leaseLost !== undefined) return;
    this.leaseLost = lost;
    this.journal?.stop();
    this.context.run.mute();
    this.context.observer?.left();
    this.abort(lost);
    const { journal } = this.context;
    journal?.runs.onLeaseLost(journal.lease.executionId);
  }

  /** Resets the count of takeovers: whatever killed the run's earlier owners did not kill this one. */
  markProgress(): void {
    if (this.takeovers === 0) return;
    this.takeovers = 0;
    this.journal?.takeoversCleared();
  }

  /** @returns false if the run waits for no such decision */
  apply(action: RunAction): boolean {
    if (action.kind === 'signal') {
      this.context.signals.arrived(this.context.run.executionId);
      return true;
    }
    if (action.kind !== 'cancel') return this.detached(() => this.calls.decide(action));
    this.abort(new LLMAbortedError('The run was cancelled.'));
    return true;
  }

  /** Calls back when the run has ended, but not when it was only abandoned here. */
  onEnd(callback: () => void): void {
    const onSettled = (): void => {
      if (this.leaseLost === undefined) callback();
    };
    this.completion.then(onSettled, onSettled);
  }

  /**
   * Resolves with the last answer or, for runs that return early, with the first. Rejects with the error that ended
   * the run.
   */
  run(): Promise<RunResult> {
    this.detached(() => void this.start());
    return this.promises.returned;
  }

  private async start(): Promise<void> {
    // What the run waits for is awaited here, too, so that nothing is held of what it has read.
    const { run } = this.context;
    this.context.options.signal?.addEventListener('abort', this, { once: true });
    await this.advance(async () => {
      const { options, journal, changedTools } = this.context;
      run.transition('running');
      if (this.isStored && this.context.restored?.isQueued === false) this.journal?.runStored();
      run.emit({
        type: 'run:started',
        userId: run.userId,
        model: options.model,
        ...journal?.metadata,
        ...omitUndefined({ changedTools }),
      });
      if (options.signal?.aborted === true) this.handleEvent();
      if (this.context.endError !== undefined) throw this.context.endError;
      if (this.context.restored !== undefined) {
        const userCheck = this.checkUser();
        if (userCheck !== undefined) await userCheck;
        this.calls.resumeOpenCalls(this.context.restored.turn?.calls ?? []);
      }
      return this.loop(this.context.restored?.turn, this.context.restored?.lateUndelivered ?? []);
    });
  }

  /** @param loop resolves with the last response, or with undefined if the run waits */
  private async advance(loop: () => Promise<LLMResponse | undefined>): Promise<void> {
    const { work } = this.context;
    work.beginStep(this);
    try {
      const response = await loop();
      if (response === undefined) return;
      const result = await this.complete(response);
      this.close();
      this.promises.resolve(result);
    } catch (thrown) {
      const error = await this.fail(thrown);
      this.close();
      this.promises.reject(error);
    } finally {
      work.endStep(this);
    }
  }

  /** In the run's own async context: that of nobody's request. */
  detached<T>(work: () => T): T {
    const { observer } = this.context;
    const observed = observer === undefined ? work : (): T => observer.within(work);
    return runDetached(() => withLogIds(this.logIds, observed));
  }

  private close(): void {
    this.context.options.signal?.removeEventListener('abort', this);
    this.deadline.pause();
    this.calls.close();
  }

  private async complete(response: LLMResponse): Promise<RunResult> {
    const { run } = this.context;
    this.cancellation.throwIfCancelled();
    if (this.calls.hasChildren) {
      // Nothing of the run's own is awaited any more.
      this.deadline.pause();
      await this.cancellation.race(this.cancelChildren(() => !this.cancellation.aborted));
    }
    // A cancellation that was confirmed to its caller wins over an answer that arrived meanwhile.
    this.cancellation.throwIfCancelled();
    run.transition('completed');
    if (this.journal !== undefined) await this.recordEnd(this.journal);
    const result: RunResult = { ...run.report(), response };
    run.emit({ type: 'run:completed', response, ...billOf(run), iterations: run.iterations });
    run.followUps.close();
    return result;
  }

  private async fail(thrown: unknown): Promise<LLMError> {
    const { run } = this.context;
    const error = isLLMError(thrown)
      ? thrown
      : new LLMServerError('The run failed unexpectedly.', { cause: thrown, retryable: false });
    if (this.leaseLost !== undefined) return this.leaseLost;
    // Cancels the open calls, so that their events come before the run's last one.
    this.abort(error);
    this.calls.cancelOpenCalls();
    const isCancelled = error.code === 'aborted';
    // If it cannot be read, the run was abandoned.
    await this.loadContent()?.catch(() => undefined);
    const missing = this.lostLease();
    if (missing !== undefined) return missing;
    if (this.calls.hasChildren) {
      // A process that takes the run over meanwhile reads the error, and ends the run likewise.
      await this.journal?.flush().catch(() => undefined);
      await this.cancelChildren(() => this.leaseLost === undefined);
      // `abandon` was called meanwhile.
      const lost = this.lostLease();
      if (lost !== undefined) return lost;
    }
    run.transition(isCancelled ? 'cancelled' : 'failed');
    if (this.journal !== undefined) {
      try {
        await this.recordEnd(this.journal, error);
      } catch (lost) {
        if (isLLMError(lost)) return lost;
        throw lost;
      }
    }
    error.run = run.report();
    const bill = billOf(run);
    run.emit(
      isCancelled ? { type: 'run:cancelled', ...bill } : { type: 'run:failed', error: errorSummary(error), ...bill },
    );
    run.followUps.close(error);
    return error;
  }

  /**
   * Cancels the runs that calls of this one have started and that still go on. To be called before the end is recorded:
   * until then, whoever takes the run over does it again.
   */
  private async cancelChildren(isWanted: () => boolean): Promise<void> {
    try {
      await this.calls.cancelChildren(isWanted);
    } catch (cause) {
      const message = 'The runs that it has started cannot be cancelled. The run continues once they can.';
      this.abandon(new LeaseLostError(message, { cause }));
    }
  }

  private lostLease(): LeaseLostError | undefined {
    return this.leaseLost;
  }

  /** A stored run ends with this write, and not before. */
  private async recordEnd(journal: RunJournal, error?: LLMError): Promise<void> {
    // However long the store takes, the run neither times out nor waits for decisions any more.
    this.deadline.pause();
    this.calls.close();
    await journal.finish({
      endedAt: Date.now(),
      ...omitUndefined({ error: error && { ...errorSummary(error), retryable: error.retryable } }),
    });
  }

  /** @returns the last response; undefined if the run waits, or the process drains */
  private async loop(turn: OpenTurn | undefined, lateCallIds: readonly string[]): Promise<LLMResponse | undefined> {
    const { run, work } = this.context;
    for (;;) {
      if (turn === undefined) {
        if (work.isDraining) {
          this.suspend();
          return undefined;
        }
        const userCheck = this.checkUser();
        if (userCheck !== undefined) await userCheck;
        const spending = this.spentBelow();
        const below = spending === undefined ? undefined : await spending;
        const isDelivery = this.isDelivery;
        lateCallIds = this.drainLateResults(lateCallIds, isDelivery, below);
        const response = await this.model.call(lateCallIds);
        if (isDelivery) run.deliveries += 1;
        this.markProgress();
        // No await between here and `nextStep`: the step is decided on the very state that was recorded.
        turn = { response, calls: this.model.record(response, lateCallIds, this.undeliveredCallIds) };
        this.undeliveredCallIds = [];
        lateCallIds = [];
      }
      const { response, calls } = turn;
      turn = undefined;
      const step = nextStep(response, {
        running: run.pendingNonBlocking.size,
        undelivered: this.countUndelivered(),
      });
      this.isAfterAnswer = step.kind !== 'use-tools';
      switch (step.kind) {
        case 'stop':
          throw step.error;
        case 'use-tools':
          // What a shutdown waits for are the tools themselves.
          work.endStep(this);
          this.cancellation.releaseSignal();
          this.undeliveredCallIds = await this.calls.run(calls);
          work.beginStep(this);
          break;
        case 'continue':
          if (response.output_text !== '' && response.vendor.finish_reason !== 'pause_turn')
            this.publishAnswer(response);
          break;
        case 'wait':
          this.publishAnswer(response);
          this.wait();
          return undefined;
        case 'answer':
          this.publishAnswer(response);
          return response;
      }
    }
  }

  /** Checks that the user of a run that was started from outside still exists. @throws LLMAbortedError */
  private checkUser(): Promise<void> | undefined {
    const { run, options, isUserRemoved } = this.context;
    if (isUserRemoved === undefined || options.origin === undefined || options.origin.source === 'job')
      return undefined;
    return this.cancellation.race(isUserRemoved(run.userId)).then((isRemoved) => {
      if (isRemoved)
        throw new LLMAbortedError(`The run was cancelled because its user "${run.userId}" no longer exists.`);
    });
  }

  /** What the runs below this one have spent, if a budget limits that. */
  private spentBelow(): Promise<Required<Budget>> | undefined {
    const { run, limits, children } = this.context;
    if (limits.budget === undefined || !this.calls.hasChildren) return undefined;
    const spent = throughOutages(
      () => children.spentBelow(run.executionId),
      () => !this.cancellation.aborted,
    );
    return this.cancellation.race(spent);
  }

  /** Whether late results are the only reason for the next model call: the model's last turn is over. */
  private get isDelivery(): boolean {
    return this.isAfterAnswer && this.context.run.lastResponse?.vendor.finish_reason !== 'pause_turn';
  }

  /**
   * Moves the late results that the next request may deliver to the transcript.
   * @param callIds late results that are in the transcript already
   * @param below what the runs below this one have spent
   * @returns all late results that the next request delivers
   * @throws MaxIterationsError, BudgetError, or the reason for the run's cancellation
   */
  private drainLateResults(
    callIds: readonly string[],
    isDelivery: boolean,
    below: Required<Budget> | undefined,
  ): readonly string[] {
    const { run, limits, options, provider } = this.context;
    this.cancellation.throwIfCancelled();
    assertWithinLimits(run, limits, {
      model: options.model,
      isDelivery,
      history: () => this.model.history(),
      priceOf: () => provider.getCapabilities(options.model).price,
      below,
    });
    const arrived = run.takeLateResults((call) => this.isAfterAnswer || this.calls.deliveryOf(call) !== 'when_idle');
    const lateCallIds = callIds.length === 0 ? arrived : [...callIds, ...arrived];
    if (lateCallIds.length > 0) run.emit({ type: 'nonblocking:result', callIds: lateCallIds });
    return lateCallIds;
  }

  /** Leaves the next turn to the process that continues the run. */
  private suspend(): void {
    this.deadline.pause();
    this.isWaiting = true;
  }

  private wait(): void {
    const { run } = this.context;
    run.transition('waiting');
    const isStored = this.isStored && this.context.restored?.isWaiting === true;
    if (isStored) this.journal?.runStored();
    this.onTransition();
    // Nothing depends on this write, and the journal reports its own failures through `onBroken`.
    if (!isStored) this.journal?.flush().catch(() => undefined);
    this.cancellation.releaseSignal();
    this.isWaiting = true;
    run.awaitArrivals();
  }

  /** The run is as it was in the process that it was taken over from, and as the store has it. */
  private get isStored(): boolean {
    const { run, restored, missingTools, changedTools, toolHashes } = this.context;
    if (restored?.recorded === undefined || restored.hasInterruptedModelCall) return false;
    const isSame = missingTools === undefined && changedTools === undefined && toolHashes === undefined;
    return isSame && restored.repaired.length === 0 && run.iterations === restored.state.iterations;
  }

  onArrival(): void {
    this.wake();
  }

  /** Continues a run that waits. */
  private wake(): void {
    if (!this.isWaiting) return;
    this.isWaiting = false;
    this.detached(() => void this.advance(() => this.resume()));
  }

  private async resume(): Promise<LLMResponse | undefined> {
    const { run } = this.context;
    // Results that arrive together are delivered together.
    await this.cancellation.race(Promise.resolve());
    if (this.context.work.isDraining) {
      this.suspend();
      return undefined;
    }
    if (this.countUndelivered() === 0 && run.pendingNonBlocking.size > 0) {
      this.isWaiting = true;
      return undefined;
    }
    const loading = this.loadContent();
    if (loading !== undefined) await this.cancellation.race(loading);
    const isDue = this.countUndelivered() > 0;
    run.endArrivals();
    run.transition('running');
    return isDue ? this.loop(undefined, []) : run.lastResponse;
  }

  /** Resolves a run that returns early with its first answer; later answers become follow-ups. */
  private publishAnswer(response: LLMResponse): void {
    if (!this.context.returnsEarly) return;
    const { run } = this.context;
    if (!this.promises.answer(() => ({ ...run.report(), response }))) run.followUps.push(response);
  }

  /** The number of late results for which the model is called. */
  private countUndelivered(): number {
    return this.context.run.countUndelivered((call) => this.calls.deliveryOf(call) !== 'silent');
  }
}

function billOf({ bill }: RunContext['run']): RunSums {
  const { models: _, ...sums } = bill.totals;
  return sums;
}

function errorSummary({ code, message }: LLMError): { readonly code: LLMError['code']; readonly message: string } {
  return { code, message };
}
