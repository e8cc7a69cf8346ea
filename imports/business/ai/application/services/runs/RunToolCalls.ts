/**
 * The tool calls of one run: started, answered, decided upon by people, and what their tools' definitions say of
 * them.
 */
import { isSettled } from '../../../domain/entities/Tool';
import type { FunctionTool, ToolCall } from '../../../domain/entities/Tool';
import { ToolLoopError } from '../../../domain/errors/LLMErrors';
import type { RunOrder } from '../../../domain/types/RunRecords';
import type { TurnCall } from './LiveRun';
import { PendingDecisions } from './PendingDecisions';
import type { RunCancellation } from './RunCancellation';
import type { RunJournal } from './durable/RunJournal';
import type { RunContext } from './RunContext';
import { elapsedSince } from '../shared/time';
import { DECISION_LIFETIME } from '../ToolProcessor';
import type { ToolJob, ToolProgress } from '../ToolProcessor';
import { ToolConcurrency } from '../tools/ToolConcurrency';

export interface ToolCallObserver {
  /** Told when a call has moved. */
  readonly onTransition: () => void;
  /** Told when a call has come to an end of its own. */
  readonly onSettled: () => void;
}

export class RunToolCalls {
  /** Turns in a row of which every call failed. */
  failedTurns: number;
  private readonly context: RunContext;
  private readonly cancellation: RunCancellation;
  private readonly journal: RunJournal | undefined;
  private readonly observer: ToolCallObserver;
  private readonly concurrency: ToolConcurrency;
  /** Made when the first one is waited for: few runs ask anybody. */
  private decisions: PendingDecisions | undefined;

  constructor(
    parts: RunContext,
    interruption: RunCancellation,
    journal: RunJournal | undefined,
    watcher: ToolCallObserver,
  ) {
    this.context = parts;
    this.cancellation = interruption;
    this.journal = journal;
    this.observer = watcher;
    this.failedTurns = parts.restored?.failedTurns ?? 0;
    this.concurrency = new ToolConcurrency(parts.limits.maxParallelTools);
  }

  /**
   * Runs a turn's calls and answers each.
   * @returns the calls whose results go out with the next request
   * @throws ToolLoopError, or what the run was interrupted with
   */
  async run(calls: readonly TurnCall[]): Promise<readonly string[]> {
    const { execution } = this.context;
    const opened = calls.map(
      (call) =>
        execution.calls.get(call.id) ?? execution.openCall(call, this.definitionOf(call.name)?.blocking ?? true),
    );
    const waits: Promise<unknown>[] = [];
    for (const call of opened) {
      // Another process may have seen it to its end.
      if (isSettled(call)) continue;
      const progress = this.start(call);
      waits.push(call.blocking ? progress.settled : progress.prepared);
    }
    this.observer.onTransition();
    // Calls settle when the run is interrupted, whatever their tools do.
    await Promise.all(waits);
    this.cancellation.throwIfCancelled();
    const answered = execution.answerTurn(calls);
    this.countFailures(calls.map(({ id }) => execution.call(id)));
    return answered;
  }

  /** Goes on with calls of earlier turns that were under way when the last owner was lost. */
  resumeOpenCalls(ofThisTurn: readonly TurnCall[]): void {
    const left = new Set(ofThisTurn.map(({ id }) => id));
    for (const call of this.context.execution.openCalls) if (!left.has(call.id)) this.start(call);
  }

  /** @returns false when nothing waits for what is decided */
  decide(order: Exclude<RunOrder, { readonly kind: 'cancel' }>): boolean {
    switch (order.kind) {
      case 'approve':
        return this.decisions?.approve(order.callId, { approved: true }) === true;
      case 'reject':
        return this.decisions?.approve(order.callId, { approved: false, reason: order.reason }) === true;
      case 'submit':
        return this.decisions?.submit(order.callId, order.result) === true;
    }
  }

  /** Ends the calls of an earlier owner that were not taken up again. */
  cancelOpenCalls(): void {
    const { execution } = this.context;
    for (const { id, state } of execution.openCalls) {
      const isUnknown = state === 'executing' || state === 'needs_review';
      const message = isUnknown
        ? 'Whether the call was carried out is not known: the run has ended.'
        : 'The run ended before the tool was begun.';
      execution.applyToolEvent(id, {
        type: 'tool:cancelled',
        at: Date.now(),
        error: { failure: 'cancelled', message },
      });
    }
  }

  /** Nobody is waited for any more. */
  close(): void {
    this.decisions?.close();
  }

  /** Its result comes from outside. */
  isExternal({ name }: ToolCall): boolean {
    return this.definitionOf(name)?.external === true;
  }

  /** Only people or other services can bring it on. */
  waitsForOthers(call: ToolCall): boolean {
    if (call.state === 'awaiting_approval' || call.state === 'needs_review') return true;
    return call.state === 'executing' && this.isExternal(call);
  }

  deliveryOf({ name }: ToolCall): NonNullable<FunctionTool['delivery']> {
    return this.definitionOf(name)?.delivery ?? 'immediate';
  }

  private start(call: ToolCall): ToolProgress {
    const { execution, processor, tools } = this.context;
    const { journal } = this;
    const job: ToolJob = {
      call,
      userId: execution.userId,
      executionId: execution.executionId,
      signal: this.cancellation.signal,
      slots: this.concurrency,
      report: (event) => {
        execution.applyToolEvent(call.id, event);
        if (isSettled(execution.call(call.id)) && event.type !== 'tool:cancelled') this.observer.onSettled();
        this.observer.onTransition();
      },
      awaitApproval: () => this.waiting().awaitApproval(call.id, timeToDecide(call)),
      awaitExternal: () => this.waiting().awaitExternal(call.id),
      awaitReview: journal && (() => this.waiting().awaitReview(call.id, DECISION_LIFETIME)),
      recorded: journal && (() => journal.flushAndVerifyLease()),
    };
    return processor.process(job, tools);
  }

  private waiting(): PendingDecisions {
    this.decisions ??= new PendingDecisions();
    return this.decisions;
  }

  /** @throws ToolLoopError */
  private countFailures(calls: readonly ToolCall[]): void {
    const allFailed = calls.every(({ state }) => state === 'failed' || state === 'timeout');
    this.failedTurns = allFailed ? this.failedTurns + 1 : 0;
    if (this.failedTurns < this.context.limits.maxToolErrors) return;
    const last = calls.at(-1);
    const message = last !== undefined && 'error' in last ? last.error.message : 'unknown';
    throw new ToolLoopError(`Every tool call failed in ${this.failedTurns} turns in a row; the last: ${message}`);
  }

  private definitionOf(name: string): FunctionTool | undefined {
    return this.context.tools.get(name)?.definition;
  }
}

/** Milliseconds; an approval that was asked for before a crash waits no longer than any other. */
function timeToDecide(call: ToolCall): number {
  return call.state === 'awaiting_approval' ? DECISION_LIFETIME - elapsedSince(call.createdAt) : DECISION_LIFETIME;
}
