/** A schedule as plain data, so that a failing one can be printed, and shrunk by leaving parts of it out. */
import type { MessageTime } from '../../imports/business/ai/domain/types/RunMessages';
import type { RunDurability } from '../../imports/business/ai/domain/types/RunRecords';

/** All times are milliseconds of virtual time since the beginning, all durations milliseconds. */
export interface Plan {
  /** The seed of the latencies, the speed of tools, and what people think. */
  readonly seed: number;
  readonly store: 'memory' | 'documents';
  /** How many processes there are at a time. Each is a slot: who dies in it is replaced. */
  readonly slots: number;
  readonly lease: number;
  readonly heartbeat: number;
  /** Half of the tools take seconds. */
  readonly hasSlowTools: boolean;
  /** How likely it is that a request takes hundreds of times as long as others. */
  readonly delayed: number;
  readonly runs: readonly PlannedRun[];
  readonly reviewers: readonly PlannedReviewer[];
  readonly faults: readonly Fault[];
  readonly messages: readonly PlannedMessage[];
}

/** What somebody sends to a run, under the same id until it is known that the run has it, or has ended. */
export interface PlannedMessage {
  readonly id: string;
  readonly run: string;
  readonly at: number;
  readonly when: MessageTime;
}

export interface PlannedRun {
  readonly id: string;
  readonly at: number;
  readonly durability: RunDurability;
  readonly runTimeout?: number;
  /** The run's first agent hands over to another one, at another vendor. */
  readonly handsOver?: true;
}

/** A person, or another service, who looks at what waits for a decision. */
export interface PlannedReviewer {
  readonly name: string;
  readonly interval: number;
  /** From what is seen to the decision about it, at most. */
  readonly thinking: number;
  /** How likely it is that an approval or a review is rejected. */
  readonly rejects: number;
}

export type Fault =
  | {
      readonly kind: 'kill';
      readonly at: number;
      readonly slot: number;
      readonly restartAfter: number;
    }
  /** At the slot's n-th write of a run or a command, which arrives or does not. */
  | {
      readonly kind: 'killAtWrite';
      readonly write: number;
      readonly slot: number;
      readonly isWritten: boolean;
      readonly restartAfter: number;
    }
  /** An orderly shutdown. With `grace`, it drains for at most that long before. */
  | {
      readonly kind: 'close';
      readonly at: number;
      readonly slot: number;
      readonly grace?: number;
      readonly restartAfter: number;
    }
  /** The process stands still, as when it is suspended or collects garbage. */
  | {
      readonly kind: 'pause';
      readonly at: number;
      readonly slot: number;
      readonly duration: number;
    }
  /** Nobody can reach the store, … */
  | { readonly kind: 'outage'; readonly at: number; readonly duration: number }
  /** … or one process cannot. */
  | {
      readonly kind: 'partition';
      readonly at: number;
      readonly slot: number;
      readonly duration: number;
    }
  /** The slot's n-th write arrives, but its reply does not. */
  | {
      readonly kind: 'lostReply';
      readonly write: number;
      readonly slot: number;
    }
  /** The slot's n-th write seems lost, and arrives later nevertheless. */
  | {
      readonly kind: 'lateWrite';
      readonly write: number;
      readonly slot: number;
      readonly delay: number;
    }
  /** The wall clock is set. */
  | {
      readonly kind: 'clockJump';
      readonly at: number;
      readonly slot: number;
      readonly by: number;
    }
  /** A person cancels a run. With `killOwnerAfter`, the process that has it dies so many milliseconds later. */
  | {
      readonly kind: 'cancel';
      readonly at: number;
      readonly slot: number;
      readonly run: string;
      readonly killOwnerAfter?: number;
    };

export type FaultKind = Fault['kind'];

/** Whether processes may act for a run that they have lost without knowing it, and network requests seem lost. */
export function isConfusing(plan: Plan): boolean {
  const confusing: readonly FaultKind[] = ['pause', 'outage', 'partition', 'lostReply', 'lateWrite'];
  return plan.faults.some(({ kind }) => confusing.includes(kind));
}

/** When the last fault is over. Those that come with a write are not counted. */
export function endOfFaults({ faults, runs, messages }: Plan): number {
  const ends = faults.map((fault) =>
    'at' in fault
      ? fault.at + ('duration' in fault ? fault.duration : 0) + ('grace' in fault ? (fault.grace ?? 0) : 0)
      : 0,
  );
  return Math.max(0, ...[...runs, ...messages].map(({ at }) => at), ...ends);
}
