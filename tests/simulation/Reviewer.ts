/** A person, or another service, who decides about calls: on what was there to see a while ago, and next to others. */
import type { ToolCall } from '../../imports/business/ai/domain/entities/Tool';
import type { Decision } from './Decision';
import type { PlannedReviewer } from './Plan';
import type { SeededRandom } from './SeededRandom';

/** Milliseconds after which a request that was on its way when its process died has arrived. */
const ARRIVED = 4_000;

export interface ReviewerOptions {
  readonly reviewer: PlannedReviewer;
  readonly random: SeededRandom;
  /** Whether a call that runs again may still have its effect by an earlier attempt: the reviewer has none repeated. */
  readonly isConfusing: boolean;
  readonly hadEffect: (executionId: string, call: ToolCall) => boolean;
}

export class Reviewer {
  readonly plan: PlannedReviewer;
  private readonly options: ReviewerOptions;
  private decided = 0;
  /** When each call under review was seen first. */
  private readonly seen = new Map<string, number>();

  constructor(options: ReviewerOptions) {
    this.plan = options.reviewer;
    this.options = options;
  }

  /** Milliseconds until the decision on what was seen is made. */
  thinkingTime(): number {
    return this.options.random.below(this.plan.thinking + 1);
  }

  /**
   * @param now milliseconds of virtual time
   * @returns undefined if nothing is to be decided, or not yet
   */
  decide(executionId: string, call: ToolCall, now: number): Decision | undefined {
    const { random } = this.options;
    switch (call.state) {
      case 'awaiting_approval':
        return random.chance(this.plan.rejects) ? this.reject() : { kind: 'approve' };
      case 'executing':
        return call.name === 'webhook' ? this.submit() : undefined;
      case 'needs_review':
        return this.review(executionId, call, call.startTime, now);
      default:
        return undefined;
    }
  }

  private review(executionId: string, call: ToolCall, startTime: number, now: number): Decision | undefined {
    const { random, isConfusing, hadEffect } = this.options;
    const attempt = `${executionId} ${call.id} ${startTime}`;
    const since = this.seen.get(attempt) ?? now;
    this.seen.set(attempt, since);
    if (now - since < ARRIVED) return undefined;
    if (random.chance(this.plan.rejects)) return this.reject();
    return isConfusing || hadEffect(executionId, call) ? this.submit() : { kind: 'rerun', startTime };
  }

  private reject(): Decision {
    return { kind: 'reject', reason: `no, says ${this.next()}` };
  }

  private submit(): Decision {
    return { kind: 'submit', output: `done, says ${this.next()}` };
  }

  private next(): string {
    this.decided += 1;
    return `${this.plan.name} ${this.decided}`;
  }
}
