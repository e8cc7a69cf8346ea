/**
 * Drives one run: calls the model, applies `nextStep`, runs tools, waits for late results, and ends the run exactly
 * once. Its `loop` is the only async function that advances the run. Whatever is done to a run from outside enters here
 * and continues detached from its caller's async context.
 */
import { isFinished } from '../../../domain/entities/Run';
import type { RunResult } from '../../../domain/entities/Run';
import type { ToolCall } from '../../../domain/entities/Tool';
import type { LLMError } from '../../../domain/errors/LLMErrors';
import { isLLMError, LLMAbortedError, LLMServerError, LLMTimeoutError } from '../../../domain/errors/LLMErrors';
import type { LLMResponse } from '../../../domain/types/ResponsesAPITypes';
import type { RunAction } from '../../../domain/types/RunRecords';
import type { RunSums } from '../../../domain/types/RunTotals';
import { runDetached } from '../runDetached';
import { nextStep } from './nextStep';
import { estimateUsage } from '../routing/estimateUsage';
import { priceCall } from '../routing/priceResponse';
import { assertWithinLimits } from './runLimits';
import { RunToolCalls } from './RunToolCalls';
import { RunDeadline } from './RunDeadline';
import { toCancellation, RunCancellation } from './RunCancellation';
import { LeaseLostError, RunJournal } from './durable/RunJournal';
import { RunModelCalls } from './RunModelCalls';
import type { JournalContext, RunContext } from './RunContext';
import { runSnapshot } from './durable/runSnapshot';

export class RunLoop {
  /** Settles when the run ends, with its last answer or its error. Undefined before `run` was called. */
  completion: Promise<RunResult> | undefined;
  /** Undefined if runs are not stored. */
  readonly journal: RunJournal | undefined;
  readonly calls: RunToolCalls;
  private readonly context: RunContext;
  private readonly cancellation = new RunCancellation();
  private readonly deadline: RunDeadline;
  private readonly model: RunModelCalls;
  private leaseLost: LeaseLostError | undefined;
  /** The promise that `run` returned, if the run returns early and has not answered yet. */
  private firstAnswer:
    { readonly resolve: (result: RunResult) => void; readonly reject: (error: unknown) => void } | undefined;
  /** The last response called no tools. */
  private isAfterAnswer: boolean;
  /** Calls whose results are in the transcript and go out with the next request. */
  private undeliveredCallIds: readonly string[];
  /** How often the run was taken over from an owner that died, since it last made progress. */
  private takeovers: number;

  constructor(context: RunContext) {
    this.context = context;
    const { run, limits, restored } = context;
    this.isAfterAnswer = restored?.isAfterAnswer ?? false;
    this.undeliveredCallIds = restored?.undelivered ?? [];
    this.takeovers = restored?.takeovers ?? 0;
    this.journal = context.journal === undefined ? undefined : this.openJournal(context.journal);
    const updateDeadline = (): void => this.updateDeadline();
    this.model = new RunModelCalls(context, this.cancellation, this.journal, updateDeadline);
    this.calls = new RunToolCalls(context, this.cancellation, this.journal, {
      onTransition: updateDeadline,
      onSettled: () => this.markProgress(),
    });
    const { runTimeout } = limits;
    this.deadline = new RunDeadline(runTimeout, restored?.elapsedMs ?? 0, () =>
      this.abort(new LLMTimeoutError(`The run took longer than ${runTimeout} ms.`)),
    );
    if (restored?.hasInterruptedModelCall === true) {
      // The interrupted call has cost tokens, and the call that replaces it counts as the same iteration.
      const usage = estimateUsage(run.transcript, 0);
      run.bill.addUsage(usage, priceCall(usage, context.provider, [context.options.model]), context.options.model);
      run.iterations -= 1;
    }
  }

  abort(reason: unknown): void {
    const error = toCancellation(reason);
    const { signal } = this.cancellation;
    if (!signal.aborted && !isFinished(this.context.run.state)) this.journal?.recordEndIntent(errorSummary(error));
    runDetached(() => this.cancellation.cancel(error));
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
    this.abort(lost);
    this.context.journal?.onLeaseLost();
  }

  /** Resets the count of takeovers: whatever killed the run's earlier owners did not kill this one. */
  markProgress(): void {
    if (this.takeovers === 0) return;
    this.takeovers = 0;
    this.journal?.runChanged();
    // The journal reports its own failures through `onBroken`.
    this.journal?.flush().catch(() => undefined);
  }

  /** @returns false if the run waits for no such decision */
  apply(action: RunAction): boolean {
    if (action.kind !== 'cancel') return runDetached(() => this.calls.decide(action));
    this.abort(new LLMAbortedError('The run was cancelled.'));
    return true;
  }

  /** Calls back when the run has ended, but not when it was only abandoned here. */
  onEnd(callback: () => void): void {
    const onSettled = (): void => {
      if (this.leaseLost === undefined) callback();
    };
    this.completion?.then(onSettled, onSettled);
  }

  /**
   * Resolves with the last answer or, for runs that return early, with the first. Rejects with the error that ended
   * the run.
   */
  run(): Promise<RunResult> {
    const completion = runDetached(() => this.execute());
    this.completion = completion;
    if (!this.context.returnsEarly) return completion;
    return new Promise<RunResult>((resolve, reject) => {
      this.firstAnswer = { resolve, reject };
      // What follows the first answer is reported by events and `followUps`.
      completion.then(
        (result) => this.firstAnswer?.resolve(result),
        (error: unknown) => this.firstAnswer?.reject(error),
      );
    });
  }

  private async execute(): Promise<RunResult> {
    const { run, options } = this.context;
    const callerSignal = options.signal;
    const onCallerAbort = (): void => this.abort(callerSignal?.reason);
    callerSignal?.addEventListener('abort', onCallerAbort, { once: true });
    try {
      run.transition('running');
      run.emit({
        type: 'run:started',
        userId: run.userId,
        model: options.model,
        ...this.context.journal?.metadata,
      });
      if (callerSignal?.aborted === true) onCallerAbort();
      if (this.context.endError !== undefined) throw this.context.endError;
      const response = await this.loop();
      // A cancellation that was confirmed to its caller wins over an answer that arrived meanwhile.
      this.cancellation.throwIfCancelled();
      run.transition('completed');
      if (this.journal !== undefined) await this.recordEnd(this.journal);
      const result: RunResult = { ...run.report(), response };
      run.emit({ type: 'run:completed', response, ...billOf(run), iterations: run.iterations });
      run.followUps.close();
      return result;
    } catch (thrown) {
      throw await this.fail(thrown);
    } finally {
      callerSignal?.removeEventListener('abort', onCallerAbort);
      this.deadline.pause();
      this.calls.close();
    }
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

  /** A stored run ends with this write, and not before. */
  private async recordEnd(journal: RunJournal, error?: LLMError): Promise<void> {
    // However long the store takes, the run neither times out nor waits for decisions any more.
    this.deadline.pause();
    this.calls.close();
    await journal.finish({
      endedAt: Date.now(),
      ...(error === undefined ? {} : { error: { ...errorSummary(error), retryable: error.retryable } }),
    });
  }

  private openJournal(journalContext: JournalContext): RunJournal {
    const { run, restored } = this.context;
    const source = runSnapshot(this.context, journalContext.startedAt, () => ({
      failedTurns: this.calls.failedTurns,
      worked: this.deadline.elapsedMs,
      takeovers: this.takeovers,
    }));
    const onBroken = (error: unknown): void =>
      error instanceof LeaseLostError ? this.abandon(error) : this.abort(error);
    const journal = new RunJournal({
      ...journalContext,
      source,
      storedCalls: restored?.storedCalls ?? [],
      onBroken,
    });
    run.journal = journal;
    for (const id of restored?.repaired ?? []) journal.callChanged(id);
    return journal;
  }

  private async loop(): Promise<LLMResponse> {
    const { run, restored } = this.context;
    let turn = restored?.turn;
    let lateCallIds = restored?.lateUndelivered ?? [];
    if (restored !== undefined) this.calls.resumeOpenCalls(turn?.calls ?? []);
    for (;;) {
      if (turn === undefined) {
        const isDelivery = this.isDelivery;
        lateCallIds = this.drainLateResults(lateCallIds, isDelivery);
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
        undelivered: run.countUndelivered(this.wakesModel),
      });
      this.isAfterAnswer = step.kind !== 'use-tools';
      switch (step.kind) {
        case 'stop':
          throw step.error;
        case 'use-tools':
          this.undeliveredCallIds = await this.calls.run(calls);
          break;
        case 'continue':
          if (response.output_text !== '' && response.vendor.finish_reason !== 'pause_turn')
            this.publishAnswer(response);
          break;
        case 'wait':
          this.publishAnswer(response);
          if (!(await this.waitForArrival())) return response;
          break;
        case 'answer':
          this.publishAnswer(response);
          return response;
      }
    }
  }

  /** Whether late results are the only reason for the next model call: the model's last turn is over. */
  private get isDelivery(): boolean {
    return this.isAfterAnswer && this.context.run.lastResponse?.vendor.finish_reason !== 'pause_turn';
  }

  /**
   * Moves the late results that the next request may deliver to the transcript.
   * @param callIds late results that are in the transcript already
   * @returns all late results that the next request delivers
   * @throws MaxIterationsError, BudgetError, or the reason for the run's cancellation
   */
  private drainLateResults(callIds: readonly string[], isDelivery: boolean): readonly string[] {
    const { run, limits, options, provider } = this.context;
    this.cancellation.throwIfCancelled();
    assertWithinLimits(run, isDelivery, limits, () => provider.getCapabilities(options.model).price, options.model);
    const arrived = run.takeLateResults((call) => this.isAfterAnswer || this.calls.deliveryOf(call) !== 'when_idle');
    const lateCallIds = callIds.length === 0 ? arrived : [...callIds, ...arrived];
    if (lateCallIds.length > 0) run.emit({ type: 'nonblocking:result', callIds: lateCallIds });
    return lateCallIds;
  }

  /** @returns false if all calls have settled and none has a result that wakes the model */
  private async waitForArrival(): Promise<boolean> {
    const { run } = this.context;
    run.transition('waiting');
    this.updateDeadline();
    // Nothing depends on this write, and the journal reports its own failures through `onBroken`.
    this.journal?.flush().catch(() => undefined);
    while (run.countUndelivered(this.wakesModel) === 0) {
      if (run.pendingNonBlocking.size === 0) {
        run.transition('running');
        return false;
      }
      await this.cancellation.race(run.nextArrival());
    }
    run.transition('running');
    return true;
  }

  /** Resolves a run that returns early with its first answer; later answers become follow-ups. */
  private publishAnswer(response: LLMResponse): void {
    if (!this.context.returnsEarly) return;
    const { run } = this.context;
    if (this.firstAnswer === undefined) {
      run.followUps.push(response);
      return;
    }
    this.firstAnswer.resolve({ ...run.report(), response });
    this.firstAnswer = undefined;
  }

  /** The deadline runs while the model or a tool works, and pauses while only people and other services are awaited. */
  private updateDeadline(): void {
    const { run } = this.context;
    if (isFinished(run.state) || this.cancellation.signal.aborted) return;
    const open = run.openCalls;
    const isWorking = run.isCalling || open.length === 0 || open.some((call) => !this.calls.isWaitingForOthers(call));
    if (isWorking) {
      this.deadline.resume();
      return;
    }
    this.deadline.pause();
    this.markProgress();
  }

  private readonly wakesModel = (call: ToolCall): boolean => this.calls.deliveryOf(call) !== 'silent';
}

function billOf({ bill }: RunContext['run']): RunSums {
  const { models: _, ...sums } = bill.totals;
  return sums;
}

function errorSummary({ code, message }: LLMError): { readonly code: LLMError['code']; readonly message: string } {
  return { code, message };
}
