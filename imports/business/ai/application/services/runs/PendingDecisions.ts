/** The calls of one run that wait for a person who approves or reviews, or for a service that submits a result. */
import type { DueTime, DueTimes } from '../shared/DueTimes';
import type { Approval, ExternalResult, Review } from '../tools/decisions';

interface PendingDecision {
  readonly kind: 'approval' | 'review' | 'external';
  readonly resolve: (decision: Review) => void;
  readonly due?: DueTime;
}

export class PendingDecisions {
  /** By call, which waits for one at a time. In one map, since a run that waits keeps it. */
  private readonly pending = new Map<string, PendingDecision>();
  private readonly dueTimes: DueTimes;
  private isClosed = false;

  constructor(dueTimes: DueTimes) {
    this.dueTimes = dueTimes;
  }

  /** @param lifetimeMs after which the call counts as rejected */
  awaitApproval(callId: string, lifetimeMs: number): Promise<Approval> {
    // Only `decide` settles an approval.
    return this.wait(callId, 'approval', lifetimeMs) as Promise<Approval>;
  }

  /** @param lifetimeMs after which the call counts as rejected */
  awaitReview(callId: string, lifetimeMs: number): Promise<Review> {
    return this.wait(callId, 'review', lifetimeMs);
  }

  awaitExternal(callId: string): Promise<ExternalResult> {
    return new Promise((resolve) => {
      // Only `submit` settles it.
      this.pending.set(callId, { kind: 'external', resolve: resolve as PendingDecision['resolve'] });
    });
  }

  /** @returns false if the call waits for no decision */
  decide(callId: string, approval: Approval): boolean {
    return this.settle(callId, approval, 'external');
  }

  /** @returns false if the call waits for no result */
  submit(callId: string, result: ExternalResult): boolean {
    return this.settle(callId, result, 'approval');
  }

  /** Drops all pending decisions, and those awaited later, so that no timer keeps the process alive. */
  close(): void {
    this.isClosed = true;
    for (const { due } of this.pending.values()) due?.cancel();
    this.pending.clear();
  }

  private wait(callId: string, kind: 'approval' | 'review', lifetimeMs: number): Promise<Review> {
    return new Promise((resolve) => {
      if (this.isClosed) return;
      const due = this.dueTimes.add(Date.now() + lifetimeMs, { onDue: () => this.decide(callId, EXPIRED) });
      this.pending.set(callId, { kind, resolve, due });
    });
  }

  /** @param except what such a decision does not settle */
  private settle(callId: string, decision: Review, except: PendingDecision['kind']): boolean {
    const found = this.pending.get(callId);
    if (found === undefined || found.kind === except) return false;
    this.pending.delete(callId);
    found.due?.cancel();
    found.resolve(decision);
    return true;
  }
}

const EXPIRED: Approval = { approved: false, reason: 'Nobody decided within 24 hours.' };
