/**
 * The one async function that drives a run: asks the model, obeys `decide`, runs tools, waits for arrivals, ends
 * exactly once.
 */
import { isFinished } from '../../../domain/entities/Run';
import type { RunResult } from '../../../domain/entities/Run';
import { addUsage } from '../../../domain/entities/Response';
import type { ToolCall } from '../../../domain/entities/Tool';
import type { LLMError } from '../../../domain/errors/LLMErrors';
import { isLLMError, LLMAbortedError, LLMServerError, LLMTimeoutError } from '../../../domain/errors/LLMErrors';
import type { LLMResponse } from '../../../domain/types/ResponsesAPITypes';
import type { RunOrder, RunProgress } from '../../../domain/types/RunRecords';
import { nextStep } from './nextStep';
import { estimateUsage } from '../routing/estimateUsage';
import { assertWithinLimits } from './runLimits';
import { RunToolCalls } from './RunToolCalls';
import { RunDeadline } from './RunDeadline';
import { toCancellation, RunCancellation } from './RunCancellation';
import { LeaseLostError, RunJournal } from './durable/RunJournal';
import { RunModelCalls } from './RunModelCalls';
import type { JournalContext, RunContext } from './RunContext';
import { runSnapshot } from './durable/runSnapshot';

export class RunLoop {
  /** The end of the run; undefined before it is begun. */
  completion: Promise<RunResult> | undefined;
  /** Absent where nothing is written down. */
  readonly journal: RunJournal | undefined;
  readonly calls: RunToolCalls;
  private readonly context: RunContext;
  private readonly cancellation = new RunCancellation();
  private readonly deadline: RunDeadline;
  private readonly model: RunModelCalls;
  private leaseLost: LeaseLostError | undefined;
  /** Who waits for the first answer, until it is told. */
  private firstAnswer:
    { readonly resolve: (result: RunResult) => void; readonly reject: (error: unknown) => void } | undefined;
  /** The model's last answer called no tools. */
  private afterAnswer: boolean;
  /** Calls whose results stand in the transcript since the last answer. */
  private unreported: readonly string[];
  /** How often the run has changed hands by death since it last got on. */
  private takeovers: number;

  constructor(parts: RunContext) {
    this.context = parts;
    const { execution, limits, restored } = parts;
    this.afterAnswer = restored?.isAfterAnswer ?? false;
    this.unreported = restored?.unreported ?? [];
    this.takeovers = restored?.takeovers ?? 0;
    this.journal = parts.journal === undefined ? undefined : this.openJournal(parts.journal);
    const updateDeadline = (): void => this.updateDeadline();
    this.model = new RunModelCalls(parts, this.cancellation, this.journal, updateDeadline);
    this.calls = new RunToolCalls(parts, this.cancellation, this.journal, {
      onTransition: updateDeadline,
      onSettled: () => this.markProgress(),
    });
    const { runTimeout } = limits;
    this.deadline = new RunDeadline(runTimeout, restored?.worked ?? 0, () =>
      this.abort(new LLMTimeoutError(`The run took longer than ${runTimeout} ms.`)),
    );
    if (restored?.hasLostCall === true) {
      // It has cost something and is made again, in place of itself.
      execution.usage = addUsage(execution.usage, estimateUsage(execution.transcript, 0));
      execution.iterations -= 1;
    }
  }

  abort(reason: unknown): void {
    const error = toCancellation(reason);
    const { signal } = this.cancellation;
    if (!signal.aborted && !isFinished(this.context.execution.state))
      this.journal?.recordEndIntent(errorSummary(error));
    this.cancellation.cancel(error);
  }

  /**
   * The run goes on in another process: here everything of it is stopped, and nothing of it is told or written any
   * more.
   */
  abandon(lost: LeaseLostError): void {
    if (this.leaseLost !== undefined) return;
    this.leaseLost = lost;
    this.journal?.stop();
    this.context.execution.mute();
    this.abort(lost);
    this.context.journal?.onLost();
  }

  /**
   * Whatever killed the run's earlier owners, it was not what is done here: their deaths are not counted any
   * longer.
   */
  markProgress(): void {
    if (this.takeovers === 0) return;
    this.takeovers = 0;
    this.journal?.runChanged();
    // The journal itself tells of what breaks it.
    this.journal?.flush().catch(() => undefined);
  }

  /** @returns false when nothing waits for what is ordered */
  apply(order: RunOrder): boolean {
    if (order.kind !== 'cancel') return this.calls.decide(order);
    this.abort(new LLMAbortedError('The run was cancelled.'));
    return true;
  }

  /** Told when the run has ended, not when it is only abandoned. */
  onEnd(callback: () => void): void {
    const hear = (): void => {
      if (this.leaseLost === undefined) callback();
    };
    this.completion?.then(hear, hear);
  }

  /**
   * Resolves with the last answer or, for runs that return early, with the first; rejects with the error that ended
   * the run.
   */
  run(): Promise<RunResult> {
    const whole = this.execute();
    this.completion = whole;
    if (!this.context.returnsEarly) return whole;
    return new Promise<RunResult>((resolve, reject) => {
      this.firstAnswer = { resolve, reject };
      // What comes after the first answer is told by events and `followUps`.
      whole.then(
        (result) => this.firstAnswer?.resolve(result),
        (error: unknown) => this.firstAnswer?.reject(error),
      );
    });
  }

  private async execute(): Promise<RunResult> {
    const { execution, options } = this.context;
    const outer = options.signal;
    const onOuterAbort = (): void => this.abort(outer?.reason);
    outer?.addEventListener('abort', onOuterAbort, { once: true });
    try {
      execution.transition('running');
      execution.emit({
        type: 'run:started',
        userId: execution.userId,
        model: options.model,
        ...this.context.journal?.metadata,
      });
      if (outer?.aborted === true) onOuterAbort();
      if (this.context.refusal !== undefined) throw this.context.refusal;
      const response = await this.loop();
      // Whoever ended it meanwhile was told that it ends.
      this.cancellation.throwIfCancelled();
      execution.transition('completed');
      if (this.journal !== undefined) await this.writeEnd(this.journal);
      const result: RunResult = { ...execution.report(), response };
      execution.emit({ type: 'run:completed', response, usage: execution.usage, iterations: execution.iterations });
      execution.followUps.close();
      return result;
    } catch (thrown) {
      throw await this.fail(thrown);
    } finally {
      outer?.removeEventListener('abort', onOuterAbort);
      this.deadline.pause();
      this.calls.close();
    }
  }

  private async fail(thrown: unknown): Promise<LLMError> {
    const { execution } = this.context;
    const error = isLLMError(thrown)
      ? thrown
      : new LLMServerError('The run failed unexpectedly.', { cause: thrown, retryable: false });
    if (this.leaseLost !== undefined) return this.leaseLost;
    // Cancels what still runs; each open call is told before the run's own end is.
    this.abort(error);
    this.calls.cancelOpenCalls();
    const cancelled = error.code === 'aborted';
    execution.transition(cancelled ? 'cancelled' : 'failed');
    if (this.journal !== undefined) {
      try {
        await this.writeEnd(this.journal, errorSummary(error));
      } catch (lost) {
        if (isLLMError(lost)) return lost;
        throw lost;
      }
    }
    error.run = execution.report();
    const { usage } = execution;
    execution.emit(
      cancelled ? { type: 'run:cancelled', usage } : { type: 'run:failed', error: errorSummary(error), usage },
    );
    execution.followUps.close(error);
    return error;
  }

  /** A run has ended when that is written down; before it, it has not. */
  private async writeEnd(journal: RunJournal, error?: RunProgress['error']): Promise<void> {
    // However long that takes, the run is not late, and nobody is waited for.
    this.deadline.pause();
    this.calls.close();
    await journal.finish({ endedAt: Date.now(), ...(error === undefined ? {} : { error }) });
  }

  private openJournal(parts: JournalContext): RunJournal {
    const { execution, restored } = this.context;
    const subject = runSnapshot(this.context, parts.startedAt, () => ({
      isCalling: this.model.isCalling,
      failedTurns: this.calls.failedTurns,
      worked: this.deadline.worked,
      takeovers: this.takeovers,
    }));
    const onBroken = (error: unknown): void =>
      error instanceof LeaseLostError ? this.abandon(error) : this.abort(error);
    const journal = new RunJournal({ ...parts, subject, stored: restored?.stored ?? [], onBroken });
    execution.journal = journal;
    for (const id of restored?.mended ?? []) journal.callChanged(id);
    return journal;
  }

  private async loop(): Promise<LLMResponse> {
    const { execution, restored } = this.context;
    let turn = restored?.turn;
    let late = restored?.late ?? [];
    if (restored !== undefined) this.calls.resumeOpenCalls(turn?.calls ?? []);
    for (;;) {
      if (turn === undefined) {
        late = this.drainLateResults(late);
        const answer = await this.model.call(late);
        this.markProgress();
        // Nothing comes between an answer's record and what is decided upon it.
        turn = { response: answer, calls: this.model.record(answer, late, this.unreported) };
        this.unreported = [];
        late = [];
      }
      const { response, calls } = turn;
      turn = undefined;
      const decision = nextStep(response, {
        running: execution.pendingNonBlocking.size,
        undelivered: execution.undelivered(this.wakes),
      });
      this.afterAnswer = decision.kind !== 'use-tools';
      switch (decision.kind) {
        case 'stop':
          throw decision.error;
        case 'use-tools':
          this.unreported = await this.calls.run(calls);
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

  /** Results that go out with the next request; the first ones stand in the transcript already. */
  private drainLateResults(taken: readonly string[]): readonly string[] {
    const { execution, limits, options, provider } = this.context;
    this.cancellation.throwIfCancelled();
    assertWithinLimits(execution, limits, () => provider.getCapabilities(options.model).price, options.model);
    const arrived = execution.takeLateResults(
      (call) => this.afterAnswer || this.calls.deliveryOf(call) !== 'when_idle',
    );
    const late = taken.length === 0 ? arrived : [...taken, ...arrived];
    if (late.length > 0) execution.emit({ type: 'nonblocking:result', callIds: late });
    return late;
  }

  /** @returns false when nothing is left that would make the model speak again */
  private async waitForArrival(): Promise<boolean> {
    const { execution } = this.context;
    execution.transition('waiting');
    this.updateDeadline();
    // Nothing is done on the strength of it, and the journal itself tells of what breaks it.
    this.journal?.flush().catch(() => undefined);
    while (execution.undelivered(this.wakes) === 0) {
      if (execution.pendingNonBlocking.size === 0) {
        execution.transition('running');
        return false;
      }
      await this.cancellation.race(execution.nextArrival());
    }
    execution.transition('running');
    return true;
  }

  private publishAnswer(response: LLMResponse): void {
    if (!this.context.returnsEarly) return;
    const { execution } = this.context;
    if (this.firstAnswer === undefined) {
      execution.followUps.push(response);
      return;
    }
    this.firstAnswer.resolve({ ...execution.report(), response });
    this.firstAnswer = undefined;
  }

  /**
   * The deadline counts while a model or a tool of ours works, not while only people and other services are waited
   * for.
   */
  private updateDeadline(): void {
    const { execution } = this.context;
    if (isFinished(execution.state) || this.cancellation.signal.aborted) return;
    const open = execution.openCalls;
    const works = this.model.isCalling || open.length === 0 || open.some((call) => !this.calls.waitsForOthers(call));
    if (works) {
      this.deadline.resume();
      return;
    }
    this.deadline.pause();
    this.markProgress();
  }

  private readonly wakes = (call: ToolCall): boolean => this.calls.deliveryOf(call) !== 'silent';
}

function errorSummary({ code, message }: LLMError): { readonly code: LLMError['code']; readonly message: string } {
  return { code, message };
}
