/** The tool calls of one run: starts them, answers each turn, and routes decisions to the calls that wait for them. */
import { hasFailed, isExternalTool, isSettled, isUncertain, waitsForOthers } from '../../../domain/entities/Tool';
import type { FunctionTool, ToolCall, ToolEvent } from '../../../domain/entities/Tool';
import { ToolLoopError } from '../../../domain/errors/LLMErrors';
import type { RunObserver } from '../../../domain/interfaces/Instrumentation';
import type { CallAction } from '../../../domain/types/RunRecords';
import type { TraceContext } from '../../../domain/types/TraceContext';
import type { TurnCall } from './LiveRun';
import { PendingDecisions } from './PendingDecisions';
import type { RunCancellation } from './RunCancellation';
import type { RunJournal } from './durable/RunJournal';
import type { RunContext } from './RunContext';
import { RunToolJob } from './RunToolJob';
import type { ToolJobOwner } from './RunToolJob';
import { throughOutages } from '../shared/throughOutages';
import { ToolConcurrency } from '../tools/ToolConcurrency';

export interface ToolCallObserver {
  /** A call has changed its state. */
  readonly onTransition: () => void;
  /** A call has settled by itself, that is, other than by cancellation. */
  readonly onSettled: () => void;
  /** Does it in the run's own async context. */
  readonly detached: <T>(work: () => T) => T;
  /** Before the transcript is read. @returns undefined if it is here @throws LeaseLostError */
  readonly loadContent: () => Promise<void> | undefined;
}

export class RunToolCalls implements ToolJobOwner {
  /** Consecutive turns in which every call failed. */
  failedTurns: number;
  readonly cancellation: RunCancellation;
  readonly journal: RunJournal | undefined;
  readonly concurrency: ToolConcurrency;
  readonly context: RunContext;
  private readonly observer: ToolCallObserver;
  /** Created when a call waits for a decision, which happens in few runs. */
  private decisions: PendingDecisions | undefined;

  constructor(
    context: RunContext,
    cancellation: RunCancellation,
    journal: RunJournal | undefined,
    observer: ToolCallObserver,
  ) {
    this.context = context;
    this.cancellation = cancellation;
    this.journal = journal;
    this.observer = observer;
    this.failedTurns = context.restored?.failedTurns ?? 0;
    this.concurrency = new ToolConcurrency(context.limits.maxParallelTools);
  }

  /**
   * Runs the calls of a turn, waits for the blocking ones, and adds an output for each to the transcript.
   * @returns the ids of the calls whose results the next request delivers
   * @throws ToolLoopError, or the reason for the run's cancellation
   */
  async run(turnCalls: readonly TurnCall[]): Promise<readonly string[]> {
    const { run } = this.context;
    const calls = turnCalls.map(
      (call) => run.calls.get(call.id) ?? run.recordCall(call, this.definitionOf(call.name)?.blocking ?? true),
    );
    const waits: Promise<unknown>[] = [];
    for (const call of calls) {
      // Another process may have settled it.
      if (isSettled(call)) continue;
      waits.push(this.start(call));
    }
    this.observer.onTransition();
    // Calls settle when the run is cancelled, whatever their tools do.
    await Promise.all(waits);
    this.cancellation.throwIfCancelled();
    const loading = this.observer.loadContent();
    if (loading !== undefined) await this.cancellation.race(loading);
    const answered = run.answerTurn(turnCalls);
    this.countFailures(turnCalls.map(({ id }) => run.getCall(id)));
    return answered;
  }

  /** Resumes the open calls of earlier turns. @param thisTurn calls that `run` will start */
  resumeOpenCalls(thisTurn: readonly TurnCall[]): void {
    const excluded = new Set(thisTurn.map(({ id }) => id));
    for (const call of this.context.run.openCalls) if (!excluded.has(call.id)) void this.start(call);
  }

  /** @returns false if no call waits for this decision */
  decide(action: CallAction): boolean {
    const isAccepted = this.settleWait(action);
    // The call goes on in a microtask.
    if (isAccepted && action.by !== undefined)
      this.context.run.applyToolEvent(action.callId, { type: 'tool:decided', at: action.by.at, by: action.by });
    return isAccepted;
  }

  private settleWait(action: CallAction): boolean {
    switch (action.kind) {
      case 'approve':
        return this.decisions?.decide(action.callId, { approved: true }) === true;
      case 'reject':
        return this.decisions?.decide(action.callId, { approved: false, reason: action.reason }) === true;
      case 'submit':
        return this.decisions?.submit(action.callId, action.result) === true;
    }
  }

  /** Cancels the calls of an earlier owner that were not resumed. */
  cancelOpenCalls(): void {
    const { run } = this.context;
    for (const call of run.openCalls) {
      const message = isUncertain(call)
        ? 'The run ended, and it is not known whether the tool took effect.'
        : 'The run ended before the tool was started.';
      run.applyToolEvent(call.id, {
        type: 'tool:cancelled',
        at: Date.now(),
        error: { failure: 'cancelled', message },
      });
    }
  }

  /** Whether calls of this run may have started others. */
  get hasChildren(): boolean {
    const { run, tools } = this.context;
    const mayStart = (name: string): boolean => tools.missing.includes(name) || this.definitionOf(name)?.kind === 'run';
    return run.toolNames.some(mayStart) || [...run.calls.values()].some(({ name }) => mayStart(name));
  }

  /**
   * Cancels the runs that calls of this one have started.
   * @param isWanted false once another process has this run
   */
  async cancelChildren(isWanted: () => boolean): Promise<void> {
    const { run, children } = this.context;
    try {
      await throughOutages(() => children.cancelAll(run.executionId), isWanted);
    } catch (error) {
      // That process does it.
      if (isWanted()) throw error;
    }
  }

  /** Drops all pending decisions. */
  close(): void {
    this.decisions?.close();
  }

  isExternal({ name }: ToolCall): boolean {
    const tool = this.definitionOf(name);
    return tool !== undefined && isExternalTool(tool);
  }

  /** Only a person or another service can move the call on. */
  isWaitingForOthers(call: ToolCall): boolean {
    return waitsForOthers(call, this.isExternal(call));
  }

  deliveryOf({ name }: ToolCall): NonNullable<FunctionTool['delivery']> {
    return this.definitionOf(name)?.delivery ?? 'immediate';
  }

  /** For the job of a call. */
  within(work: () => void): void {
    this.observer.detached(work);
  }

  /** For the job of a call. */
  report(callId: string, event: ToolEvent): void {
    const { run, observer } = this.context;
    const begun = observer !== undefined && event.type === 'tool:executing';
    run.applyToolEvent(callId, begun ? { ...event, ...traceOf(observer, run.getCall(callId)) } : event);
    if (isSettled(run.getCall(callId)) && event.type !== 'tool:cancelled') this.observer.onSettled();
    this.observer.onTransition();
  }

  get pendingDecisions(): PendingDecisions {
    this.decisions ??= new PendingDecisions(this.context.processor.dueTimes);
    return this.decisions;
  }

  /** Resolves when the call has settled; if it is not blocking, as soon as it was accepted. */
  private start(call: ToolCall): Promise<void> {
    const { processor, tools } = this.context;
    return processor.process(new RunToolJob(call, this), tools, call.blocking ? 'settled' : 'prepared');
  }

  /** @throws ToolLoopError */
  private countFailures(calls: readonly ToolCall[]): void {
    this.failedTurns = calls.every(hasFailed) ? this.failedTurns + 1 : 0;
    if (this.failedTurns < this.context.limits.maxToolErrors) return;
    const last = calls.at(-1);
    const message = last !== undefined && 'error' in last ? last.error.message : 'unknown';
    throw new ToolLoopError(`Every tool call failed in ${this.failedTurns} turns in a row. Last error: ${message}`);
  }

  private definitionOf(name: string): FunctionTool | undefined {
    return this.context.tools.get(name)?.definition;
  }
}

function traceOf(observer: RunObserver, call: ToolCall): { readonly trace?: TraceContext } {
  const trace = observer.beginTool(call);
  return trace === undefined ? {} : { trace };
}
