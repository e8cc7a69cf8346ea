/**
 * Calls of one run that wait for somebody outside: a person who approves or reviews, a service that submits a
 * result.
 */
import type { Approval, ExternalResult, Review } from '../ToolProcessor';

interface PendingDecision<Decision> {
  readonly decide: (decision: Decision) => void;
  readonly timer?: ReturnType<typeof setTimeout>;
}

export class PendingDecisions {
  private readonly approvals = new Map<string, PendingDecision<Approval>>();
  private readonly reviews = new Map<string, PendingDecision<Review>>();
  private readonly externals = new Map<string, PendingDecision<ExternalResult>>();
  private isClosed = false;

  /** @param lifetime milliseconds after which the answer is no */
  awaitApproval(callId: string, lifetime: number): Promise<Approval> {
    return this.wait(callId, this.approvals, lifetime);
  }

  /** @param lifetime as above */
  awaitReview(callId: string, lifetime: number): Promise<Review> {
    return this.wait(callId, this.reviews, lifetime);
  }

  awaitExternal(callId: string): Promise<ExternalResult> {
    return new Promise((decide) => this.externals.set(callId, { decide }));
  }

  /** @returns false when no such decision is waited for */
  approve(callId: string, approval: Approval): boolean {
    return settle(callId, this.approvals, approval) || settle(callId, this.reviews, approval);
  }

  /** @returns false when no such result is waited for */
  submit(callId: string, result: ExternalResult): boolean {
    return settle(callId, this.externals, result) || settle(callId, this.reviews, result);
  }

  /** Ends all waiting, also what begins afterwards, so that nothing of the run keeps the process alive. */
  close(): void {
    this.isClosed = true;
    for (const waiting of [this.approvals, this.reviews]) {
      for (const { timer } of waiting.values()) clearTimeout(timer);
      waiting.clear();
    }
    this.externals.clear();
  }

  private wait<Decision>(
    callId: string,
    waiting: Map<string, PendingDecision<Decision | Approval>>,
    lifetime: number,
  ): Promise<Decision | Approval> {
    return new Promise((decide) => {
      if (this.isClosed) return;
      const timer = setTimeout(() => settle(callId, waiting, EXPIRED), Math.max(0, lifetime));
      waiting.set(callId, { decide, timer });
    });
  }
}

const EXPIRED: Approval = { approved: false, reason: 'nobody decided within 24 hours' };

function settle<Decision>(
  callId: string,
  waiting: Map<string, PendingDecision<Decision>>,
  decision: Decision,
): boolean {
  const found = waiting.get(callId);
  if (found === undefined) return false;
  waiting.delete(callId);
  clearTimeout(found.timer);
  found.decide(decision);
  return true;
}
