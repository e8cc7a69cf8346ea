/** The tool calls of one run: starts them, answers each turn, and routes decisions to the calls that wait for them. */
import {
  acceptsDecision,
  hasFailed,
  isSettled,
  isUncertain,
  needsApproval,
  waitsForOthers,
} from '../../../domain/entities/Tool';
import type { FunctionTool, ToolCall } from '../../../domain/entities/Tool';
import { ToolLoopError } from '../../../domain/errors/LLMErrors';
import type { RunAction } from '../../../domain/types/RunRecords';
import type { TurnCall } from './LiveRun';
import { PendingDecisions } from './PendingDecisions';
import type { RunCancellation } from './RunCancellation';
import type { RunJournal } from './durable/RunJournal';
import type { RunContext } from './RunContext';
import { elapsedSince } from '../shared/time';
import type { ToolJob, ToolProgress } from '../ToolProcessor';
import { DECISION_LIFETIME_MS } from '../tools/decisions';
import { ToolConcurrency } from '../tools/ToolConcurrency';

export interface ToolCallObserver {
  /** A call has changed its state. */
  readonly onTransition: () => void;
  /** A call has settled by itself, that is, other than by cancellation. */
  readonly onSettled: () => void;
}

export class RunToolCalls {
  /** Consecutive turns in which every call failed. */
  failedTurns: number;
  private readonly context: RunContext;
  private readonly cancellation: RunCancellation;
  private readonly journal: RunJournal | undefined;
  private readonly observer: ToolCallObserver;
  private readonly concurrency: ToolConcurrency;
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
      const progress = this.start(call);
      waits.push(call.blocking ? progress.settled : progress.prepared);
    }
    this.observer.onTransition();
    // Calls settle when the run is cancelled, whatever their tools do.
    await Promise.all(waits);
    this.cancellation.throwIfCancelled();
    const answered = run.answerTurn(turnCalls);
    this.countFailures(turnCalls.map(({ id }) => run.getCall(id)));
    return answered;
  }

  /** Resumes the open calls of earlier turns. @param thisTurn calls that `run` will start */
  resumeOpenCalls(thisTurn: readonly TurnCall[]): void {
    const excluded = new Set(thisTurn.map(({ id }) => id));
    for (const call of this.context.run.openCalls) if (!excluded.has(call.id)) this.start(call);
  }

  /** @returns false if no call waits for this decision */
  decide(action: Exclude<RunAction, { readonly kind: 'cancel' }>): boolean {
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

  /** Drops all pending decisions. */
  close(): void {
    this.decisions?.close();
  }

  isExternal({ name }: ToolCall): boolean {
    return this.definitionOf(name)?.external === true;
  }

  /** Only a person or another service can move the call on. */
  isWaitingForOthers(call: ToolCall): boolean {
    return waitsForOthers(call, this.isExternal(call));
  }

  deliveryOf({ name }: ToolCall): NonNullable<FunctionTool['delivery']> {
    return this.definitionOf(name)?.delivery ?? 'immediate';
  }

  private start(call: ToolCall): ToolProgress {
    const { run, processor, tools } = this.context;
    const { journal } = this;
    const job: ToolJob = {
      call,
      userId: run.userId,
      executionId: run.executionId,
      signal: this.cancellation.signal,
      concurrency: this.concurrency,
      report: (event) => {
        run.applyToolEvent(call.id, event);
        if (isSettled(run.getCall(call.id)) && event.type !== 'tool:cancelled') this.observer.onSettled();
        this.observer.onTransition();
      },
      awaitApproval: () => this.pendingDecisions().awaitApproval(call.id, decisionLifetimeMs(call)),
      awaitExternal: () => this.pendingDecisions().awaitExternal(call.id),
      awaitReview: journal && (() => this.pendingDecisions().awaitReview(call.id, decisionLifetimeMs(call))),
      flushJournal: journal && (() => journal.flushAndVerifyLease()),
    };
    return processor.process(job, tools);
  }

  private pendingDecisions(): PendingDecisions {
    this.decisions ??= new PendingDecisions();
    return this.decisions;
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

/** A decision that was requested before a crash expires no later than any other. @param call as it was restored */
function decisionLifetimeMs(call: ToolCall): number {
  if (acceptsDecision(call) && 'expiresAt' in call) return Math.min(DECISION_LIFETIME_MS, call.expiresAt - Date.now());
  return needsApproval(call) ? DECISION_LIFETIME_MS - elapsedSince(call.createdAt) : DECISION_LIFETIME_MS;
}
