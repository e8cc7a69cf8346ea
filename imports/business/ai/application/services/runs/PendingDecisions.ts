/** The calls of one run that wait for a person who approves or reviews, or for a service that submits a result. */
import type { Approval, ExternalResult, Review } from '../tools/decisions';

interface PendingDecision<Decision> {
  readonly resolve: (decision: Decision) => void;
  readonly timer?: ReturnType<typeof setTimeout>;
}

export class PendingDecisions {
  private readonly approvals = new Map<string, PendingDecision<Approval>>();
  private readonly reviews = new Map<string, PendingDecision<Review>>();
  private readonly externals = new Map<string, PendingDecision<ExternalResult>>();
  private isClosed = false;

  /** @param lifetimeMs after which the call counts as rejected */
  awaitApproval(callId: string, lifetimeMs: number): Promise<Approval> {
    return this.wait(callId, this.approvals, lifetimeMs);
  }

  /** @param lifetimeMs after which the call counts as rejected */
  awaitReview(callId: string, lifetimeMs: number): Promise<Review> {
    return this.wait(callId, this.reviews, lifetimeMs);
  }

  awaitExternal(callId: string): Promise<ExternalResult> {
    return new Promise((resolve) => this.externals.set(callId, { resolve }));
  }

  /** @returns false if the call waits for no decision */
  decide(callId: string, approval: Approval): boolean {
    return settle(callId, this.approvals, approval) || settle(callId, this.reviews, approval);
  }

  /** @returns false if the call waits for no result */
  submit(callId: string, result: ExternalResult): boolean {
    return settle(callId, this.externals, result) || settle(callId, this.reviews, result);
  }

  /** Drops all pending decisions, and those awaited later, so that no timer keeps the process alive. */
  close(): void {
    this.isClosed = true;
    for (const pending of [this.approvals, this.reviews]) {
      for (const { timer } of pending.values()) clearTimeout(timer);
      pending.clear();
    }
    this.externals.clear();
  }

  private wait<Decision>(
    callId: string,
    pending: Map<string, PendingDecision<Decision | Approval>>,
    lifetimeMs: number,
  ): Promise<Decision | Approval> {
    return new Promise((resolve) => {
      if (this.isClosed) return;
      const timer = setTimeout(() => settle(callId, pending, EXPIRED), Math.max(0, lifetimeMs));
      pending.set(callId, { resolve, timer });
    });
  }
}

const EXPIRED: Approval = { approved: false, reason: 'Nobody decided within 24 hours.' };

function settle<Decision>(
  callId: string,
  pending: Map<string, PendingDecision<Decision>>,
  decision: Decision,
): boolean {
  const found = pending.get(callId);
  if (found === undefined) return false;
  pending.delete(callId);
  clearTimeout(found.timer);
  found.resolve(decision);
  return true;
}
