/** A schedule of the machine as plain data, so that a failing one can be printed, and shrunk by leaving parts out. */
import type { RunLimits } from '../../../imports/business/ai/domain/types/RunLimits';
import type { RunDurability } from '../../../imports/business/ai/domain/types/RunRecords';
import type { MessageTime } from '../../../imports/business/ai/domain/types/RunMessages';
import type { ToolName } from './simulatedTools';

export interface MachinePlan {
  /** The seed of what the scheduler chooses. */
  readonly seed: number;
  /** How many processes there are at a time. Who dies is replaced. */
  readonly processes: number;
  readonly durability: RunDurability;
  readonly limits: RunLimits;
  /** What the model does, one response after another. It answers when nothing is left. */
  readonly turns: readonly PlannedTurn[];
  readonly streams: boolean;
  /** Whether the store tells which calls are recorded with the run. */
  readonly tellsRecorded: boolean;
  /** What mostly comes later than all else. */
  readonly slow: readonly Pace[];
  /** How likely it is that a person, or another service, rejects or reports an error. */
  readonly rejects: number;
  readonly faults: readonly MachineFault[];
  /** What people send to the run. */
  readonly messages: readonly PlannedMessage[];
}

export interface PlannedMessage {
  /** The step of the schedule. */
  readonly at: number;
  readonly when: MessageTime;
  /** So many steps later, its sender changes it. */
  readonly change?: { readonly after: number; readonly to: MessageTime | 'withdrawn' };
}

export type Pace = 'store' | 'reply' | 'model' | 'tool' | 'call' | 'person' | 'process';

export type PlannedTurn =
  | { readonly kind: 'calls'; readonly calls: readonly PlannedCall[] }
  /** The vendor pauses the turn of the model. */
  | { readonly kind: 'pause' }
  /** The response is cut off, which ends the run. */
  | { readonly kind: 'cutOff' }
  | { readonly kind: 'answer' };

export interface PlannedCall {
  readonly tool: ToolName;
  readonly outcome: 'ok' | 'fails' | 'invalid' | 'timeout' | 'late';
  /** How often the tool reports progress. */
  readonly progress?: number;
  /** The tool lets the model go on without its result. */
  readonly detaches?: true;
  /** The model uses an id that it has used before. */
  readonly reusesId?: true;
}

/** `at` counts the steps of the schedule, `nth` writes, model calls or effects. */
export type MachineFault =
  | { readonly kind: 'kill'; readonly at: number; readonly process: number }
  /** Before, or after so many effects of decisions. */
  | { readonly kind: 'killAtEffect'; readonly nth: number }
  | { readonly kind: 'killAtWrite'; readonly nth: number; readonly isWritten: boolean }
  /** The write is lost, is applied without a reply, seems lost and comes later, comes again later, or half of it. */
  | {
      readonly kind: 'write';
      readonly nth: number;
      readonly outcome: 'lost' | 'unanswered' | 'late' | 'twice' | 'half';
    }
  /** The process cannot reach the store, and others may take its runs. */
  | { readonly kind: 'cut'; readonly at: number; readonly process: number; readonly steps: number }
  | { readonly kind: 'drain'; readonly at: number; readonly process: number; readonly steps: number }
  /** Confirmed once the store has the command. */
  | { readonly kind: 'cancel'; readonly at: number; readonly isStored: boolean }
  /** A listener ends the run as it hears of the n-th event. */
  | { readonly kind: 'cancelAtEvent'; readonly nth: number }
  | { readonly kind: 'deadline'; readonly at: number }
  | { readonly kind: 'model'; readonly nth: number; readonly does: 'fail' | 'retry' | 'refuse' | 'compact' }
  /** A waiting run leaves its content to the store. */
  | { readonly kind: 'unload'; readonly at: number };
