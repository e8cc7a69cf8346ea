/** Calls of one run that wait for somebody outside: a person who approves, a service that submits a result. */
import { DECISION_LIFETIME } from './ToolProcessor';
import type { Approval, ExternalResult } from './ToolProcessor';

export class PendingDecisions {
  private readonly approvals = new Map<string, { readonly decide: (approval: Approval) => void; readonly timer: ReturnType<typeof setTimeout> }>();
  private readonly externals = new Map<string, (result: ExternalResult) => void>();

  awaitApproval(callId: string): Promise<Approval> {
    return new Promise((decide) => {
      const timer = setTimeout(() => this.approve(callId, { approved: false, reason: 'nobody decided within 24 hours' }), DECISION_LIFETIME);
      this.approvals.set(callId, { decide, timer });
    });
  }

  awaitExternal(callId: string): Promise<ExternalResult> {
    return new Promise((resolve) => this.externals.set(callId, resolve));
  }

  /** @returns false when no such decision is waited for */
  approve(callId: string, approval: Approval): boolean {
    const waiting = this.approvals.get(callId);
    if (waiting === undefined) return false;
    this.approvals.delete(callId);
    clearTimeout(waiting.timer);
    waiting.decide(approval);
    return true;
  }

  /** @returns false when no such result is waited for */
  submit(callId: string, result: ExternalResult): boolean {
    const settle = this.externals.get(callId);
    this.externals.delete(callId);
    settle?.(result);
    return settle !== undefined;
  }

  /** Ends all waiting, so that nothing of the run keeps the process alive. */
  close(): void {
    for (const { timer } of this.approvals.values()) clearTimeout(timer);
    this.approvals.clear();
    this.externals.clear();
  }
}
