/** The one async function that drives a run: asks the model, obeys `decide`, runs tools, waits for arrivals, ends exactly once. */
import { setMaxListeners } from 'node:events';
import { costOf } from '../../domain/costOf';
import { isSettled } from '../../domain/entities/Tool';
import type { FunctionTool, ToolCall, ToolEvent } from '../../domain/entities/Tool';
import { isFinished } from '../../domain/entities/Run';
import type { RunResult } from '../../domain/entities/Run';
import { addUsage } from '../../domain/entities/Response';
import type { LLMError } from '../../domain/errors/LLMErrors';
import { isLLMError, LLMAbortedError, LLMServerError, LLMStreamError, LLMTimeoutError, ToolLoopError } from '../../domain/errors/LLMErrors';
import type { ILLMProvider } from '../../domain/interfaces/ILLMProvider';
import type { GenerateOptions, NormalizedOptions } from '../../domain/types/LLMTypes';
import type { Item, LLMResponse } from '../../domain/types/ResponsesAPITypes';
import type { RunLimits, RunOrder, RunProgress, RunRequest } from '../../domain/types/RunRecords';
import { adoptInput } from './ContentNormalizer';
import { decide } from './decide';
import { estimatedUsage } from './estimateUsage';
import type { Execution, TurnCall } from './Execution';
import { buildRequest } from './MessageBuilder';
import { PendingDecisions } from './PendingDecisions';
import { refuseOverrun } from './refuseOverrun';
import type { OpenTurn, RestoredRun } from './restoreRun';
import { RunClock } from './RunClock';
import { LeaseLostError, RunJournal } from './RunJournal';
import type { RunJournalParts } from './RunJournal';
import { timeSince } from './timeSince';
import { createToolSlots, DECISION_LIFETIME } from './ToolProcessor';
import type { Review, ToolSlots, ToolProcessor } from './ToolProcessor';
import type { ToolSet } from './ToolSet';

export interface RunParts {
  readonly execution: Execution;
  readonly provider: ILLMProvider;
  readonly processor: ToolProcessor;
  readonly tools: ToolSet;
  readonly options: NormalizedOptions;
  readonly limits: RunLimits;
  readonly stream: boolean;
  readonly returnsEarly: boolean;
  /** Where the run is written down. */
  readonly journal?: JournalParts;
  /** Where it stands that another process began. */
  readonly restored?: RestoredRun;
  /** Why it can't go on here or anywhere. */
  readonly refusal?: LLMError;
}

export interface JournalParts extends Pick<RunJournalParts, 'store' | 'lease' | 'patience'> {
  readonly startedAt: number;
  /** What is told of the run when it begins here. */
  readonly known: Pick<RunRequest, 'providerId' | 'title' | 'createdAt'>;
  /** Whether nobody can have taken the run since it was last known to be ours; asked before a tool is run or a model is called. */
  readonly isHeld: () => boolean;
  /** Told when the run goes on elsewhere. */
  readonly onLost: () => void;
}

export class RunDriver {
  private readonly decisions = new PendingDecisions();
  private readonly parts: RunParts;
  private readonly controller = new AbortController();
  private readonly aborted: Promise<never>;
  private readonly toolSlots: ToolSlots;
  private readonly clock: RunClock;
  private onFirstAnswer: ((result: RunResult) => void) | undefined;
  private calling = false;
  private lost: LeaseLostError | undefined;
  private afterAnswer = false;
  private failedTurns = 0;
  private unreported: readonly string[] = [];
  private sent: { readonly responseId: string; readonly upTo: number } | undefined;
  private readonly journal: RunJournal | undefined;
  private end: Pick<RunProgress, 'endedAt' | 'error'> = {};

  constructor(parts: RunParts) {
    this.parts = parts;
    const { execution, journal, restored } = parts;
    if (journal !== undefined) {
      const subject = { progress: () => this.progress(journal.startedAt), call: (id: string) => execution.call(id) };
      this.journal = new RunJournal({ ...journal, subject, stored: restored?.stored ?? [], onBroken: (error) => this.stopWriting(error) });
      execution.journal = this.journal;
    }
    if (restored !== undefined) this.restore(restored);
    this.toolSlots = createToolSlots(parts.limits.maxParallelTools);
    const { runTimeout } = parts.limits;
    this.clock = new RunClock(runTimeout, restored?.worked ?? 0, () => this.controller.abort(new LLMTimeoutError(`The run took longer than ${runTimeout} ms.`)));
    // Each open call listens; Node would take more than ten for a leak.
    setMaxListeners(0, this.controller.signal);
    this.aborted = new Promise((_resolve, reject) => {
      this.controller.signal.addEventListener('abort', () => reject(this.abortError()), { once: true });
    });
    // It is raced against the run's steps; between them nobody listens, and that is no failure.
    this.aborted.catch(() => undefined);
  }

  abort(reason: unknown): void {
    this.controller.abort(reason);
  }

  /** The run goes on in another process: here everything of it is stopped, and nothing of it is told or written any more. */
  abandon(lost: LeaseLostError): void {
    if (this.lost !== undefined) return;
    this.lost = lost;
    this.journal?.stop();
    this.parts.execution.silence();
    this.controller.abort(lost);
    this.parts.journal?.onLost();
  }

  /** What is not worth a write of its own is written now and then. */
  beat(): void {
    this.journal?.beat();
  }

  /** Looks whether the run is still ours. @throws LeaseLostError */
  confirm(): Promise<void> {
    this.journal?.runChanged();
    return this.recorded();
  }

  /** @returns false when nothing waits for what is ordered */
  obey(order: RunOrder): boolean {
    switch (order.kind) {
      case 'cancel':
        this.abort(new LLMAbortedError('The run was cancelled.'));
        return true;
      case 'approve':
        return this.decisions.approve(order.callId, { approved: true });
      case 'reject':
        return this.decisions.approve(order.callId, { approved: false, reason: order.reason });
      case 'submit':
        return this.decisions.submit(order.callId, order.result);
    }
  }

  /** Told when the run has ended, not when it is only abandoned. */
  onEnd(told: () => void): void {
    const hear = (): void => {
      if (this.lost === undefined) told();
    };
    this.ended?.then(hear, hear);
  }

  isExternal(call: ToolCall): boolean {
    return this.definitionOf(call.name)?.external === true;
  }

  /** Resolves when what has happened so far is written down. @throws LeaseLostError */
  recorded(): Promise<void> {
    return this.journal?.durable() ?? Promise.resolve();
  }

  /** The end of the run; undefined before it is begun. */
  ended: Promise<RunResult> | undefined;

  /** Resolves with the last answer or, for runs that return early, with the first; rejects with the error that ended the run. */
  run(): Promise<RunResult> {
    const whole = this.drive();
    this.ended = whole;
    if (!this.parts.returnsEarly) return whole;
    // What comes after the first answer is told by events and `followUps`.
    whole.catch(() => undefined);
    return Promise.race([whole, new Promise<RunResult>((resolve) => (this.onFirstAnswer = resolve))]);
  }

  private async drive(): Promise<RunResult> {
    const { execution, options } = this.parts;
    const outer = options.signal;
    const onOuterAbort = (): void => this.controller.abort(outer?.reason);
    outer?.addEventListener('abort', onOuterAbort, { once: true });
    try {
      execution.move('running');
      execution.emit({ type: 'run:started', userId: execution.userId, model: options.model, ...this.parts.journal?.known });
      if (outer?.aborted === true) onOuterAbort();
      if (this.parts.refusal !== undefined) throw this.parts.refusal;
      const response = await this.turns();
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
      this.decisions.close();
    }
  }

  private async fail(thrown: unknown): Promise<LLMError> {
    const { execution } = this.parts;
    const error = isLLMError(thrown) ? thrown : new LLMServerError('The run failed unexpectedly.', { cause: thrown, retryable: false });
    if (this.lost !== undefined) return this.lost;
    // Cancels what still runs; each open call is told before the run's own end is.
    this.controller.abort(error);
    const cancelled = error.code === 'aborted';
    execution.move(cancelled ? 'cancelled' : 'failed');
    const told = { code: error.code, message: error.message };
    if (this.journal !== undefined) {
      try {
        await this.writeEnd(this.journal, told);
      } catch (lost) {
        if (isLLMError(lost)) return lost;
        throw lost;
      }
    }
    error.run = execution.report();
    const { usage } = execution;
    execution.emit(cancelled ? { type: 'run:cancelled', usage } : { type: 'run:failed', error: told, usage });
    execution.followUps.close(error);
    return error;
  }

  /** A run has ended when that is written down; before it, it has not. */
  private async writeEnd(journal: RunJournal, error?: RunProgress['error']): Promise<void> {
    // However long that takes, the run is not late, and nobody is waited for.
    this.clock.pause();
    this.decisions.close();
    this.end = { endedAt: Date.now(), ...(error === undefined ? {} : { error }) };
    await journal.finish();
  }

  private stopWriting(error: unknown): void {
    if (error instanceof LeaseLostError) this.abandon(error);
    else this.controller.abort(error);
  }

  private restore({ isAfterAnswer, unreported, hasLostCall, failedTurns, mended }: RestoredRun): void {
    const { execution } = this.parts;
    for (const id of mended) this.journal?.callChanged(id);
    this.afterAnswer = isAfterAnswer;
    this.unreported = unreported;
    this.failedTurns = failedTurns;
    if (!hasLostCall) return;
    // It has cost something and is made again, in place of itself.
    execution.usage = addUsage(execution.usage, estimatedUsage(execution.transcript, 0));
    execution.iterations -= 1;
  }

  private progress(startedAt: number): RunProgress {
    const { execution, provider, options } = this.parts;
    const { state, iterations, usage, transcript, turnStart, lastResponse: response, seq } = execution;
    const { price } = provider.getCapabilities(options.model);
    return {
      state,
      startedAt,
      ...this.end,
      iterations,
      isCalling: this.calling,
      usage,
      ...(price === undefined ? {} : { cost: costOf(usage, price) }),
      transcript: [...transcript],
      turnStart,
      ...(response === undefined ? {} : { response }),
      failedTurns: this.failedTurns,
      worked: this.clock.worked,
      seq,
    };
  }

  private async turns(): Promise<LLMResponse> {
    const { execution, restored } = this.parts;
    let turn = restored?.turn;
    let late = restored?.late ?? [];
    if (restored !== undefined) this.restartCalls(turn);
    for (;;) {
      if (turn === undefined) {
        late = this.takeLate(late);
        const answer = await this.ask(late);
        // Nothing comes between an answer's record and what is decided upon it.
        turn = { response: answer, calls: this.record(answer, late) };
        late = [];
      }
      const { response, calls } = turn;
      turn = undefined;
      const decision = decide(response, { running: execution.pendingNonBlocking.size, undelivered: execution.undelivered(this.wakes) });
      this.afterAnswer = decision.kind !== 'use-tools';
      switch (decision.kind) {
        case 'stop':
          throw decision.error;
        case 'use-tools':
          this.unreported = await this.runTools(calls);
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
    if (this.controller.signal.aborted) throw this.abortError();
    refuseOverrun(execution, limits, () => provider.getCapabilities(options.model).price, options.model);
    const arrived = execution.takeInbox((call) => this.afterAnswer || this.deliveryOf(call) !== 'when_idle');
    const late = taken.length === 0 ? arrived : [...taken, ...arrived];
    if (late.length > 0) execution.emit({ type: 'nonblocking:result', callIds: late });
    return late;
  }

  /** Calls of earlier turns that were under way when the last owner was lost. */
  private restartCalls(turn: OpenTurn | undefined): void {
    const ofThisTurn = new Set(turn?.calls.map(({ id }) => id));
    for (const call of this.parts.execution.openCalls) if (!ofThisTurn.has(call.id)) this.start(call);
  }

  private async ask(late: readonly string[]): Promise<LLMResponse> {
    const { execution, options, tools } = this.parts;
    execution.iterations += 1;
    execution.emit({ type: 'iteration:start', iteration: execution.iterations });
    const request = buildRequest({ base: this.isFirstCall() ? options : withoutForcedTool(options), transcript: execution.transcript, tools: tools.tools, ...(this.sent === undefined ? {} : { sent: this.sent }) });
    // The transcript holds adopted items only.
    if (typeof request.input !== 'string') adoptInput(request.input as readonly Item[]);
    const arrived = { characters: 0 };
    this.calling = true;
    this.keepTime();
    try {
      if (this.journal !== undefined) {
        this.journal.runChanged();
        await Promise.race([this.recordedAndHeld(this.journal), this.aborted]);
      }
      const turn = this.journal === undefined ? {} : { turn: { executionId: execution.executionId, iteration: execution.iterations } };
      return await Promise.race([this.call({ ...request, ...turn, signal: this.controller.signal }, arrived), this.aborted]);
    } catch (thrown) {
      const error = this.controller.signal.aborted ? this.abortError() : thrown;
      this.countLostCall(error, arrived.characters);
      if (late.length > 0) execution.emit({ type: 'nonblocking:error', callIds: late, error: describe(error) });
      throw error;
    } finally {
      this.calling = false;
    }
  }

  private isFirstCall(): boolean {
    return this.parts.execution.iterations === 1;
  }

  private async call(request: GenerateOptions, arrived: { characters: number }): Promise<LLMResponse> {
    const { execution, provider, stream } = this.parts;
    if (!stream) return provider.generate(execution.userId, request);
    for await (const event of provider.stream(execution.userId, request)) {
      switch (event.type) {
        case 'response.output_text.delta':
        case 'response.refusal.delta':
        case 'response.reasoning.delta':
          arrived.characters += event.delta.length;
          execution.emit({ type: 'llm:delta', kind: DELTA_KIND[event.type], delta: event.delta });
          break;
        case 'response.completed':
          return event.response;
        case 'response.failed':
          throw event.error;
        default:
      }
    }
    throw new LLMStreamError('The stream ended without a response.');
  }

  /** A call that was cut off has cost something, though nobody counted it. */
  private countLostCall(error: unknown, characters: number): void {
    const { execution } = this.parts;
    const usage = isLLMError(error) ? error.response?.usage : undefined;
    if (usage !== undefined) execution.usage = addUsage(execution.usage, usage);
    else if (this.controller.signal.aborted || error instanceof LLMStreamError || error instanceof LLMTimeoutError) {
      execution.usage = addUsage(execution.usage, estimatedUsage(execution.transcript, characters));
    }
  }

  private record(response: LLMResponse, late: readonly string[]): readonly TurnCall[] {
    const { execution, options, provider } = this.parts;
    const calls = execution.appendResponse(response);
    execution.markDelivered([...this.unreported, ...late], response.id);
    this.unreported = [];
    if (options.store === true && provider.getCapabilities(options.model).keepsState) {
      this.sent = { responseId: response.id, upTo: execution.transcript.length };
    }
    execution.emit({ type: 'llm:response', iteration: execution.iterations, response });
    if (late.length > 0) execution.emit({ type: 'nonblocking:llm_response', callIds: late, response });
    return calls;
  }

  /** Runs a turn's calls and answers each. @returns the calls whose results go out with the next request */
  private async runTools(calls: readonly TurnCall[]): Promise<readonly string[]> {
    const { execution, limits } = this.parts;
    const opened = calls.map((call) => execution.calls.get(call.id) ?? execution.openCall(call, this.definitionOf(call.name)?.blocking ?? true));
    const waits: Promise<void>[] = [];
    for (const call of opened) {
      // Another process may have seen it to its end.
      if (isSettled(call)) continue;
      const progress = this.start(call);
      waits.push(call.blocking ? progress.settled : progress.prepared);
    }
    this.keepTime();
    // Calls settle when the run is aborted, whatever their tools do.
    await Promise.all(waits);
    if (this.controller.signal.aborted) throw this.abortError();
    const answered = execution.answerTurn(calls);
    const allFailed = calls.every(({ id }) => ['failed', 'timeout'].includes(execution.call(id).state));
    this.failedTurns = allFailed ? this.failedTurns + 1 : 0;
    if (this.failedTurns >= limits.maxToolErrors) {
      throw new ToolLoopError(`Every tool call failed in ${this.failedTurns} turns in a row; the last: ${lastError(execution, calls)}`);
    }
    return answered;
  }

  private start(call: ToolCall): ReturnType<ToolProcessor['process']> {
    const { execution, processor, tools } = this.parts;
    const report = (event: ToolEvent): void => {
      execution.applyToolEvent(call.id, event);
      this.keepTime();
    };
    const job = {
      call,
      userId: execution.userId,
      executionId: execution.executionId,
      signal: this.controller.signal,
      slots: this.toolSlots,
      report,
      awaitApproval: () => this.decisions.awaitApproval(call.id, this.timeToDecide(call)),
      awaitExternal: () => this.decisions.awaitExternal(call.id),
    };
    const { journal } = this;
    if (journal === undefined) return processor.process(job, tools);
    const awaitReview = (): Promise<Review> => this.decisions.awaitReview(call.id, DECISION_LIFETIME);
    return processor.process({ ...job, awaitReview, recorded: () => this.recordedAndHeld(journal) }, tools);
  }

  /** What is about to be done is in the store, and if this process was stopped for a while, it still has the run. */
  private async recordedAndHeld(journal: RunJournal): Promise<void> {
    await journal.durable();
    if (this.parts.journal?.isHeld() === true) return;
    journal.runChanged();
    await journal.durable();
  }

  /** Milliseconds; an approval that was asked for before a crash waits no longer than any other. */
  private timeToDecide(call: ToolCall): number {
    return call.state === 'awaiting_approval' ? DECISION_LIFETIME - timeSince(call.createdAt) : DECISION_LIFETIME;
  }

  /** @returns false when nothing is left that would make the model speak again */
  private async waitForArrival(): Promise<boolean> {
    const { execution } = this.parts;
    execution.move('waiting');
    this.keepTime();
    // Nothing is done on the strength of it, and the journal itself tells of what breaks it.
    this.recorded().catch(() => undefined);
    while (execution.undelivered(this.wakes) === 0) {
      if (execution.pendingNonBlocking.size === 0) {
        execution.move('running');
        return false;
      }
      await Promise.race([execution.nextArrival(), this.aborted]);
    }
    execution.move('running');
    return true;
  }

  private tellAnswer(response: LLMResponse): void {
    if (!this.parts.returnsEarly) return;
    if (this.onFirstAnswer === undefined) {
      this.parts.execution.followUps.push(response);
      return;
    }
    const { execution } = this.parts;
    this.onFirstAnswer({ ...execution.report(), response });
    this.onFirstAnswer = undefined;
  }

  /** The deadline counts while a model or a tool of ours works, not while only people and other services are waited for. */
  private keepTime(): void {
    const { execution } = this.parts;
    if (isFinished(execution.state) || this.controller.signal.aborted) return;
    const open = execution.openCalls;
    const works = this.calling || open.length === 0 || open.some((call) => !this.waitsForOthers(call));
    if (works) this.clock.resume();
    else this.clock.pause();
  }

  private waitsForOthers(call: ToolCall): boolean {
    if (call.state === 'awaiting_approval' || call.state === 'needs_review') return true;
    return call.state === 'executing' && this.definitionOf(call.name)?.external === true;
  }

  private readonly wakes = (call: ToolCall): boolean => this.deliveryOf(call) !== 'silent';

  private deliveryOf(call: ToolCall): NonNullable<FunctionTool['delivery']> {
    return this.definitionOf(call.name)?.delivery ?? 'immediate';
  }

  private definitionOf(name: string): FunctionTool | undefined {
    return this.parts.tools.get(name)?.definition;
  }

  private abortError(): LLMError {
    const reason: unknown = this.controller.signal.reason;
    return isLLMError(reason) ? reason : new LLMAbortedError('The run was aborted.', { cause: reason });
  }
}

const DELTA_KIND = {
  'response.output_text.delta': 'text',
  'response.refusal.delta': 'refusal',
  'response.reasoning.delta': 'reasoning',
} as const;

/** A tool that is forced in every turn would never let the model answer; the caller forced the first one. */
function withoutForcedTool(options: NormalizedOptions): NormalizedOptions {
  const choice = options.tool_choice;
  const isForced = choice === 'required' || (typeof choice === 'object' && (choice.type !== 'allowed_tools' || choice.mode === 'required'));
  if (!isForced) return options;
  return { ...options, tool_choice: typeof choice === 'object' && choice.type === 'allowed_tools' ? { ...choice, mode: 'auto' } : 'auto' };
}

function describe(error: unknown): { code: LLMError['code']; message: string } {
  return isLLMError(error) ? { code: error.code, message: error.message } : { code: 'vendor-error', message: 'The model call failed.' };
}

function lastError(execution: Execution, calls: readonly TurnCall[]): string {
  const last = calls.at(-1);
  const call = last === undefined ? undefined : execution.call(last.id);
  return call !== undefined && 'error' in call ? call.error.message : 'unknown';
}
