/** One call of a run, for the processor. It holds two references, since a waiting run keeps one per open call. */
import { acceptsDecision, needsApproval } from '../../../domain/entities/Tool';
import type { ToolCall, ToolEvent } from '../../../domain/entities/Tool';
import type { RunObserver } from '../../../domain/interfaces/Instrumentation';
import type { CallOrigin } from '../../../domain/types/RequestRecords';
import type { AbortSource } from '../shared/AbortSource';
import { elapsedSince } from '../shared/time';
import type { ToolJob } from '../ToolProcessor';
import { DECISION_LIFETIME_MS } from '../tools/decisions';
import type { Approval, ExternalResult, Review } from '../tools/decisions';
import type { ToolConcurrency } from '../tools/ToolConcurrency';
import type { RunSignals } from '../tools/signals/RunSignals';
import type { RunStoreWriter } from './durable/RunStoreWriter';
import type { PendingDecisions } from './PendingDecisions';
import type { RunCancellation } from './RunCancellation';
import type { RunContext } from './RunContext';

/** What the calls of a run share. */
export interface ToolJobOwner {
  readonly context: Pick<
    RunContext,
    'run' | 'options' | 'stream' | 'limits' | 'signals' | 'children' | 'origin' | 'observer'
  >;
  readonly cancellation: RunCancellation;
  readonly concurrency: ToolConcurrency;
  /** Undefined if runs are not stored. */
  readonly writer: RunStoreWriter | undefined;
  readonly pendingDecisions: PendingDecisions;
  report(callId: string, event: ToolEvent): void;
  /** Records that the tool starts: see `ToolJob.begin`. */
  begin(call: ToolCall): Promise<void> | undefined;
  within(work: () => void): void;
}

export class RunToolJob implements ToolJob {
  readonly call: ToolCall;
  private readonly owner: ToolJobOwner;

  constructor(call: ToolCall, owner: ToolJobOwner) {
    this.call = call;
    this.owner = owner;
  }

  get userId(): string {
    return this.owner.context.run.userId;
  }

  get origin(): CallOrigin | undefined {
    return this.owner.context.options.origin;
  }

  get executionId(): string {
    return this.owner.context.run.executionId;
  }

  get signal(): AbortSource {
    return this.owner.cancellation;
  }

  get observer(): RunObserver | undefined {
    return this.owner.context.observer;
  }

  get concurrency(): ToolConcurrency {
    return this.owner.concurrency;
  }

  get signals(): RunSignals {
    return this.owner.context.signals;
  }

  get children(): ToolJob['children'] {
    const { children, origin, options, stream, limits, run } = this.owner.context;
    const { isQueued, globalPriority, depth = 0 } = origin;
    const { executionId, userId } = run;
    const parent = { executionId, userId, depth, isQueued, globalPriority, options, stream, budget: limits.budget };
    // A run may go on while its calls wait for their turn.
    return { runs: children, parent: { ...parent, spent: () => run.spent } };
  }

  get isDetachable(): boolean {
    return true;
  }

  get awaitReview(): (() => Promise<Review>) | undefined {
    if (this.owner.writer === undefined) return undefined;
    return () => this.owner.pendingDecisions.awaitReview(this.call.id, decisionLifetimeMs(this.call));
  }

  awaitInput(lifetimeMs: number): Promise<Review> {
    return this.owner.pendingDecisions.awaitReview(this.call.id, lifetimeMs);
  }

  report(event: ToolEvent): void {
    this.owner.report(this.call.id, event);
  }

  within(work: () => void): void {
    this.owner.within(work);
  }

  begin(): Promise<void> | undefined {
    return this.owner.begin(this.call);
  }

  flushJournal(): Promise<void> | undefined {
    return this.owner.writer?.beforeTool(false);
  }

  awaitApproval(): Promise<Approval> {
    return this.owner.pendingDecisions.awaitApproval(this.call.id, decisionLifetimeMs(this.call));
  }

  awaitExternal(): Promise<ExternalResult> {
    return this.owner.pendingDecisions.awaitExternal(this.call.id);
  }
}

/** A decision that was requested before a crash expires no later than any other. @param call as it was restored */
function decisionLifetimeMs(call: ToolCall): number {
  if (acceptsDecision(call) && 'expiresAt' in call) return Math.min(DECISION_LIFETIME_MS, call.expiresAt - Date.now());
  return needsApproval(call) ? DECISION_LIFETIME_MS - elapsedSince(call.createdAt) : DECISION_LIFETIME_MS;
}
