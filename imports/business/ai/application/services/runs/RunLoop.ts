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
import { decide } from './nextStep';
import { estimatedUsage } from '../routing/estimateUsage';
import { refuseOverrun } from './runLimits';
import { RunCalls } from './RunToolCalls';
import { RunClock } from './RunDeadline';
import { asInterruption, RunInterruption } from './RunCancellation';
import { LeaseLostError, RunJournal } from './durable/RunJournal';
import { RunModel } from './RunModelCalls';
import type { JournalParts, RunParts } from './RunContext';
import { runSubject } from './durable/runSnapshot';

export class RunDriver {
  /** The end of the run; undefined before it is begun. */
  ended: Promise<RunResult> | undefined;
  /** Absent where nothing is written down. */
  readonly journal: RunJournal | undefined;
  readonly calls: RunCalls;
  private readonly parts: RunParts;
  private readonly interruption = new RunInterruption();
  private readonly clock: RunClock;
  private readonly model: RunModel;
  private lost: LeaseLostError | undefined;
  /** Who waits for the first answer, until it is told. */
  private first:
    { readonly resolve: (result: RunResult) => void; readonly reject: (error: unknown) => void } | undefined;
  /** The model's last answer called no tools. */
  private afterAnswer: boolean;
  /** Calls whose results stand in the transcript since the last answer. */
  private unreported: readonly string[];
  /** How often the run has changed hands by death since it last got on. */
  private takeovers: number;

  constructor(parts: RunParts) {
    this.parts = parts;
    const { execution, limits, restored } = parts;
    this.afterAnswer = restored?.isAfterAnswer ?? false;
    this.unreported = restored?.unreported ?? [];
    this.takeovers = restored?.takeovers ?? 0;
    this.journal = parts.journal === undefined ? undefined : this.openJournal(parts.journal);
    const keepTime = (): void => this.keepTime();
    this.model = new RunModel(parts, this.interruption, this.journal, keepTime);
    this.calls = new RunCalls(parts, this.interruption, this.journal, {
      onMove: keepTime,
      onSettled: () => this.gotOn(),
    });
    const { runTimeout } = limits;
    this.clock = new RunClock(runTimeout, restored?.worked ?? 0, () =>
      this.abort(new LLMTimeoutError(`The run took longer than ${runTimeout} ms.`)),
    );
    if (restored?.hasLostCall === true) {
      // It has cost something and is made again, in place of itself.
      execution.usage = addUsage(execution.usage, estimatedUsage(execution.transcript, 0));
      execution.iterations -= 1;
    }
  }

  abort(reason: unknown): void {
    const error = asInterruption(reason);
    const { signal } = this.interruption;
    if (!signal.aborted && !isFinished(this.parts.execution.state)) this.journal?.willEnd(told(error));
    this.interruption.interrupt(error);
  }

  /**
   * The run goes on in another process: here everything of it is stopped, and nothing of it is told or written any
   * more.
   */
  abandon(lost: LeaseLostError): void {
    if (this.lost !== undefined) return;
    this.lost = lost;
    this.journal?.stop();
    this.parts.execution.silence();
    this.abort(lost);
    this.parts.journal?.onLost();
  }

  /**
   * Whatever killed the run's earlier owners, it was not what is done here: their deaths are not counted any
   * longer.
   */
  gotOn(): void {
    if (this.takeovers === 0) return;
    this.takeovers = 0;
    this.journal?.runChanged();
    // The journal itself tells of what breaks it.
    this.journal?.durable().catch(() => undefined);
  }

  /** @returns false when nothing waits for what is ordered */
  obey(order: RunOrder): boolean {
    if (order.kind !== 'cancel') return this.calls.decide(order);
    this.abort(new LLMAbortedError('The run was cancelled.'));
    return true;
  }

  /** Told when the run has ended, not when it is only abandoned. */
  onEnd(told: () => void): void {
    const hear = (): void => {
      if (this.lost === undefined) told();
    };
    this.ended?.then(hear, hear);
  }

  /**
   * Resolves with the last answer or, for runs that return early, with the first; rejects with the error that ended
   * the run.
   */
  run(): Promise<RunResult> {
    const whole = this.drive();
    this.ended = whole;
    if (!this.parts.returnsEarly) return whole;
    return new Promise<RunResult>((resolve, reject) => {
      this.first = { resolve, reject };
      // What comes after the first answer is told by events and `followUps`.
      whole.then(
        (result) => this.first?.resolve(result),
        (error: unknown) => this.first?.reject(error),
      );
    });
  }

  private async drive(): Promise<RunResult> {
    const { execution, options } = this.parts;
    const outer = options.signal;
    const onOuterAbort = (): void => this.abort(outer?.reason);
    outer?.addEventListener('abort', onOuterAbort, { once: true });
    try {
      execution.move('running');
      execution.emit({
        type: 'run:started',
        userId: execution.userId,
        model: options.model,
        ...this.parts.journal?.known,
      });
      if (outer?.aborted === true) onOuterAbort();
      if (this.parts.refusal !== undefined) throw this.parts.refusal;
      const response = await this.turns();
      // Whoever ended it meanwhile was told that it ends.
      this.interruption.throwIfCome();
      execution.move('completed');
      if (this.journal !== undefined) await this.writeEnd(this.journal);
      const result: RunResult = { ...execution.report(), response };
      execution.emit({ type: 'run:completed', response, usage: execution.usage, iterations: execution.iterations });
      execution.followUps.close();
      return result;
    } catch (thrown) {
      throw await this.fail(thrown);
    } finally {
      outer?.removeEventListener('abort', onOuterAbort);
      this.clock.pause();
      this.calls.close();
    }
  }

  private async fail(thrown: unknown): Promise<LLMError> {
    const { execution } = this.parts;
    const error = isLLMError(thrown)
      ? thrown
      : new LLMServerError('The run failed unexpectedly.', { cause: thrown, retryable: false });
    if (this.lost !== undefined) return this.lost;
    // Cancels what still runs; each open call is told before the run's own end is.
    this.abort(error);
    this.calls.cancelLeft();
    const cancelled = error.code === 'aborted';
    execution.move(cancelled ? 'cancelled' : 'failed');
    if (this.journal !== undefined) {
      try {
        await this.writeEnd(this.journal, told(error));
      } catch (lost) {
        if (isLLMError(lost)) return lost;
        throw lost;
      }
    }
    error.run = execution.report();
    const { usage } = execution;
    execution.emit(cancelled ? { type: 'run:cancelled', usage } : { type: 'run:failed', error: told(error), usage });
    execution.followUps.close(error);
    return error;
  }

  /** A run has ended when that is written down; before it, it has not. */
  private async writeEnd(journal: RunJournal, error?: RunProgress['error']): Promise<void> {
    // However long that takes, the run is not late, and nobody is waited for.
    this.clock.pause();
    this.calls.close();
    await journal.finish({ endedAt: Date.now(), ...(error === undefined ? {} : { error }) });
  }

  private openJournal(parts: JournalParts): RunJournal {
    const { execution, restored } = this.parts;
    const subject = runSubject(this.parts, parts.startedAt, () => ({
      isCalling: this.model.isCalling,
      failedTurns: this.calls.failedTurns,
      worked: this.clock.worked,
      takeovers: this.takeovers,
    }));
    const onBroken = (error: unknown): void =>
      error instanceof LeaseLostError ? this.abandon(error) : this.abort(error);
    const journal = new RunJournal({ ...parts, subject, stored: restored?.stored ?? [], onBroken });
    execution.journal = journal;
    for (const id of restored?.mended ?? []) journal.callChanged(id);
    return journal;
  }

  private async turns(): Promise<LLMResponse> {
    const { execution, restored } = this.parts;
    let turn = restored?.turn;
    let late = restored?.late ?? [];
    if (restored !== undefined) this.calls.restart(turn?.calls ?? []);
    for (;;) {
      if (turn === undefined) {
        late = this.takeLate(late);
        const answer = await this.model.ask(late);
        this.gotOn();
        // Nothing comes between an answer's record and what is decided upon it.
        turn = { response: answer, calls: this.model.record(answer, late, this.unreported) };
        this.unreported = [];
        late = [];
      }
      const { response, calls } = turn;
      turn = undefined;
      const decision = decide(response, {
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
          if (response.output_text !== '' && response.vendor.finish_reason !== 'pause_turn') this.tellAnswer(response);
          break;
        case 'wait':
          this.tellAnswer(response);
          if (!(await this.waitForArrival())) return response;
          break;
        case 'answer':
          this.tellAnswer(response);
          return response;
      }
    }
  }

  /** Results that go out with the next request; the first ones stand in the transcript already. */
  private takeLate(taken: readonly string[]): readonly string[] {
    const { execution, limits, options, provider } = this.parts;
    this.interruption.throwIfCome();
    refuseOverrun(execution, limits, () => provider.getCapabilities(options.model).price, options.model);
    const arrived = execution.takeInbox((call) => this.afterAnswer || this.calls.deliveryOf(call) !== 'when_idle');
    const late = taken.length === 0 ? arrived : [...taken, ...arrived];
    if (late.length > 0) execution.emit({ type: 'nonblocking:result', callIds: late });
    return late;
  }

  /** @returns false when nothing is left that would make the model speak again */
  private async waitForArrival(): Promise<boolean> {
    const { execution } = this.parts;
    execution.move('waiting');
    this.keepTime();
    // Nothing is done on the strength of it, and the journal itself tells of what breaks it.
    this.journal?.durable().catch(() => undefined);
    while (execution.undelivered(this.wakes) === 0) {
      if (execution.pendingNonBlocking.size === 0) {
        execution.move('running');
        return false;
      }
      await this.interruption.race(execution.nextArrival());
    }
    execution.move('running');
    return true;
  }

  private tellAnswer(response: LLMResponse): void {
    if (!this.parts.returnsEarly) return;
    const { execution } = this.parts;
    if (this.first === undefined) {
      execution.followUps.push(response);
      return;
    }
    this.first.resolve({ ...execution.report(), response });
    this.first = undefined;
  }

  /**
   * The deadline counts while a model or a tool of ours works, not while only people and other services are waited
   * for.
   */
  private keepTime(): void {
    const { execution } = this.parts;
    if (isFinished(execution.state) || this.interruption.signal.aborted) return;
    const open = execution.openCalls;
    const works = this.model.isCalling || open.length === 0 || open.some((call) => !this.calls.waitsForOthers(call));
    if (works) {
      this.clock.resume();
      return;
    }
    this.clock.pause();
    this.gotOn();
  }

  private readonly wakes = (call: ToolCall): boolean => this.calls.deliveryOf(call) !== 'silent';
}

function told({ code, message }: LLMError): { readonly code: LLMError['code']; readonly message: string } {
  return { code, message };
}
