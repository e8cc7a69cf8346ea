/** What a session knows of the world around it. */
import type { ToolCall } from '../../../imports/business/ai/domain/entities/Tool';
import type { LLMError } from '../../../imports/business/ai/domain/errors/LLMErrors';
import type { ActiveRun } from '../../../imports/business/ai/domain/run/ActiveRun';
import type { AgentEventType } from '../../../imports/business/ai/domain/types/AgentEvents';
import type { SeededRandom } from '../SeededRandom';
import type { Machine } from './Machine';
import type { MachineFault, MachinePlan, PlannedCall } from './MachinePlan';
import type { MachineStore } from './MachineStore';
import type { Scheduler } from './Scheduler';
import type { ProcessState } from './SimulatedProcess';

/** `unknown`: the reply is lost. */
export type WriteReply = boolean | 'unknown';
/** Changes the store, if it lets the writer. @param isHalf of several documents, only some are written */
export type StoreChange = (store: MachineStore, isHalf: boolean) => boolean;
export type ModelFault = Extract<MachineFault, { readonly kind: 'model' }>['does'];

export interface SessionWorld {
  readonly machine: Machine;
  readonly plan: MachinePlan;
  readonly random: SeededRandom;
  readonly scheduler: Scheduler;
  readonly store: MachineStore;
  /** Counts the steps of the schedule. The time of day. */
  readonly steps: number;
  /** Lengths of the requests that were answered, by the ids of the responses. */
  readonly requests: Map<string, number>;
  /** Whether sessions keep their events. */
  readonly keepsEvents: boolean;
  /** The state with which the store has been written last. */
  applied: ActiveRun | undefined;
  note(line: () => string): void;
  plannedCall(call: ToolCall): PlannedCall;
  nextResponse(): number;
  nextModelFault(): ModelFault | undefined;
  /** Whether such a fault is due before the next model call. */
  modelFault(does: 'compact'): boolean;
  /** Sends a request that changes the store. @param onReply in the process, if it lives */
  write(process: ProcessState, what: string, change: StoreChange, onReply: (reply: WriteReply) => void): void;
  /** An effect of a decision is about to be performed, if the process lives on. */
  onEffectOf(process: ProcessState): void;
  onPublished(run: { cancel(error: LLMError): void }, type: AgentEventType): void;
  /** Nobody has the run. */
  onOrphaned(): void;
  /** Somebody sees that a call waits for a decision, and will make one. */
  onWait(call: ToolCall): void;
  /** A tool has its effect. */
  onEffect(call: ToolCall): void;
  onRerunApproved(callId: string): void;
  /** Starts the run of a call, or finds the one that was started for it. */
  startChild(callId: string): void;
  cancelChildren(): void;
}
