/** The one async function that drives a run: asks the model, obeys `decide`, runs tools, waits for arrivals, ends exactly once. */
import { setMaxListeners } from 'node:events';
import type { FunctionTool, ToolCall, ToolEvent } from '../../domain/entities/Tool';
import { isFinished } from '../../domain/entities/Run';
import type { RunResult } from '../../domain/entities/Run';
import { addUsage } from '../../domain/entities/Response';
import type { LLMError} from '../../domain/errors/LLMErrors';
import { BudgetError, isLLMError, LLMAbortedError, LLMServerError, LLMStreamError, LLMTimeoutError, MaxIterationsError, ToolLoopError } from '../../domain/errors/LLMErrors';
import type { ILLMProvider } from '../../domain/interfaces/ILLMProvider';
import type { GenerateOptions, NormalizedOptions } from '../../domain/types/LLMTypes';
import type { Item, LLMResponse } from '../../domain/types/ResponsesAPITypes';
import type { RunLimits } from '../../domain/types/RunRecords';
import { adoptInput } from './ContentNormalizer';
import { decide } from './decide';
import { estimatedUsage, estimateTokens } from './estimateUsage';
import type { Execution, TurnCall } from './Execution';
import { buildRequest } from './MessageBuilder';
import { PendingDecisions } from './PendingDecisions';
import { RunClock } from './RunClock';
import { createToolSlots } from './ToolProcessor';
import type { ToolSlots, ToolProcessor } from './ToolProcessor';
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
}

export class RunDriver {
  readonly decisions = new PendingDecisions();
  private readonly parts: RunParts;
  private readonly controller = new AbortController();
  private readonly aborted: Promise<never>;
  private readonly toolSlots: ToolSlots;
  private readonly clock: RunClock;
  private onFirstAnswer: ((result: RunResult) => void) | undefined;
  private calling = false;
  private afterAnswer = false;
  private failedTurns = 0;
  private unreported: readonly string[] = [];
  private sent: { readonly responseId: string; readonly upTo: number } | undefined;

  constructor(parts: RunParts) {
    this.parts = parts;
    this.toolSlots = createToolSlots(parts.limits.maxParallelTools);
    const { runTimeout } = parts.limits;
    this.clock = new RunClock(runTimeout, () => this.controller.abort(new LLMTimeoutError(`The run took longer than ${runTimeout} ms.`)));
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

  /** Resolves with the last answer or, for runs that return early, with the first; rejects with the error that ended the run. */
  run(): Promise<RunResult> {
    const whole = this.drive();
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
      execution.emit({ type: 'run:started', userId: execution.userId, model: options.model });
      if (outer?.aborted === true) onOuterAbort();
      const response = await this.turns();
      execution.move('completed');
      const result: RunResult = { ...execution.report(), response };
      execution.emit({ type: 'run:completed', response, usage: execution.usage, iterations: execution.iterations });
      execution.followUps.close();
      return result;
    } catch (thrown) {
      throw this.fail(thrown);
    } finally {
      outer?.removeEventListener('abort', onOuterAbort);
      this.clock.pause();
      this.decisions.close();
    }
  }

  private fail(thrown: unknown): LLMError {
    const { execution } = this.parts;
    const error = isLLMError(thrown) ? thrown : new LLMServerError('The run failed unexpectedly.', { cause: thrown, retryable: false });
    // Cancels what still runs; each open call is told before the run's own end is.
    this.controller.abort(error);
    const cancelled = error.code === 'aborted';
    execution.move(cancelled ? 'cancelled' : 'failed');
    error.run = execution.report();
    const { usage } = execution;
    execution.emit(cancelled ? { type: 'run:cancelled', usage } : { type: 'run:failed', error: { code: error.code, message: error.message }, usage });
    execution.followUps.close(error);
    return error;
  }

  private async turns(): Promise<LLMResponse> {
    const { execution } = this.parts;
    for (;;) {
      this.refuseOverrun();
      const late = execution.takeInbox((call) => this.afterAnswer || this.deliveryOf(call) !== 'when_idle');
      if (late.length > 0) execution.emit({ type: 'nonblocking:result', callIds: late });
      const response = await this.ask(late);
      const calls = this.record(response, late);
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

  private refuseOverrun(): void {
    const { execution, limits, options, provider } = this.parts;
    if (this.controller.signal.aborted) throw this.abortError();
    if (execution.iterations >= limits.maxIterations) {
      throw new MaxIterationsError(`The run reached its limit of ${limits.maxIterations} model calls without an answer.`);
    }
    const { budget } = limits;
    if (budget === undefined) return;
    if (budget.calls !== undefined && execution.iterations >= budget.calls) throw new BudgetError(`The budget of ${budget.calls} model calls is spent.`);
    const next = estimateTokens(execution.transcript);
    if (budget.tokens !== undefined && execution.usage.total_tokens + next > budget.tokens) {
      throw new BudgetError(`The next call would pass the budget of ${budget.tokens} tokens.`);
    }
    if (budget.money === undefined) return;
    const { price } = provider.getCapabilities(options.model);
    if (price === undefined) throw new BudgetError(`No price is known for '${options.model}', so a budget of money cannot be kept.`);
    const spent = (execution.usage.input_tokens + next) * price.input + execution.usage.output_tokens * price.output;
    if (spent / 1_000_000 > budget.money) throw new BudgetError(`The next call would pass the budget of $${budget.money}.`);
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
      return await Promise.race([this.call({ ...request, signal: this.controller.signal }, arrived), this.aborted]);
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
    const opened = calls.map((call) => execution.openCall(call, this.definitionOf(call.name)?.blocking ?? true));
    const waits = opened.map((call) => {
      const progress = this.start(call);
      return call.blocking ? progress.settled : progress.prepared;
    });
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
      awaitApproval: () => this.decisions.awaitApproval(call.id),
      awaitExternal: () => this.decisions.awaitExternal(call.id),
    };
    return processor.process(job, tools);
  }

  /** @returns false when nothing is left that would make the model speak again */
  private async waitForArrival(): Promise<boolean> {
    const { execution } = this.parts;
    execution.move('waiting');
    this.keepTime();
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
