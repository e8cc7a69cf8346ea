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
import type { RunInterruption } from './RunCancellation';
import type { RunJournal } from './durable/RunJournal';
import type { RunParts } from './RunContext';
import { timeSince } from '../timeSince';
import { DECISION_LIFETIME } from '../ToolProcessor';
import type { ToolJob, ToolProgress } from '../ToolProcessor';
import { ToolSlots } from '../tools/ToolConcurrency';

export interface CallsWatcher {
  /** Told when a call has moved. */
  readonly onMove: () => void;
  /** Told when a call has come to an end of its own. */
  readonly onSettled: () => void;
}

export class RunCalls {
  /** Turns in a row of which every call failed. */
  failedTurns: number;
  private readonly parts: RunParts;
  private readonly interruption: RunInterruption;
  private readonly journal: RunJournal | undefined;
  private readonly watcher: CallsWatcher;
  private readonly slots: ToolSlots;
  /** Made when the first one is waited for: few runs ask anybody. */
  private decisions: PendingDecisions | undefined;

  constructor(parts: RunParts, interruption: RunInterruption, journal: RunJournal | undefined, watcher: CallsWatcher) {
    this.parts = parts;
    this.interruption = interruption;
    this.journal = journal;
    this.watcher = watcher;
    this.failedTurns = parts.restored?.failedTurns ?? 0;
    this.slots = new ToolSlots(parts.limits.maxParallelTools);
  }

  /**
   * Runs a turn's calls and answers each.
   * @returns the calls whose results go out with the next request
   * @throws ToolLoopError, or what the run was interrupted with
   */
  async run(calls: readonly TurnCall[]): Promise<readonly string[]> {
    const { execution } = this.parts;
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
    this.watcher.onMove();
    // Calls settle when the run is interrupted, whatever their tools do.
    await Promise.all(waits);
    this.interruption.throwIfCome();
    const answered = execution.answerTurn(calls);
    this.countFailures(calls.map(({ id }) => execution.call(id)));
    return answered;
  }

  /** Goes on with calls of earlier turns that were under way when the last owner was lost. */
  restart(ofThisTurn: readonly TurnCall[]): void {
    const left = new Set(ofThisTurn.map(({ id }) => id));
    for (const call of this.parts.execution.openCalls) if (!left.has(call.id)) this.start(call);
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
  cancelLeft(): void {
    const { execution } = this.parts;
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
    const { execution, processor, tools } = this.parts;
    const { journal } = this;
    const job: ToolJob = {
      call,
      userId: execution.userId,
      executionId: execution.executionId,
      signal: this.interruption.signal,
      slots: this.slots,
      report: (event) => {
        execution.applyToolEvent(call.id, event);
        if (isSettled(execution.call(call.id)) && event.type !== 'tool:cancelled') this.watcher.onSettled();
        this.watcher.onMove();
      },
      awaitApproval: () => this.waiting().awaitApproval(call.id, timeToDecide(call)),
      awaitExternal: () => this.waiting().awaitExternal(call.id),
      awaitReview: journal && (() => this.waiting().awaitReview(call.id, DECISION_LIFETIME)),
      recorded: journal && (() => journal.held()),
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
    if (this.failedTurns < this.parts.limits.maxToolErrors) return;
    const last = calls.at(-1);
    const message = last !== undefined && 'error' in last ? last.error.message : 'unknown';
    throw new ToolLoopError(`Every tool call failed in ${this.failedTurns} turns in a row; the last: ${message}`);
  }

  private definitionOf(name: string): FunctionTool | undefined {
    return this.parts.tools.get(name)?.definition;
  }
}

/** Milliseconds; an approval that was asked for before a crash waits no longer than any other. */
function timeToDecide(call: ToolCall): number {
  return call.state === 'awaiting_approval' ? DECISION_LIFETIME - timeSince(call.createdAt) : DECISION_LIFETIME;
}
