/** What the parts of one run share: its state, its plan, its collaborators, and where it is recorded. */
import type { LLMError } from '../../../domain/errors/LLMErrors';
import type { ILLMProvider } from '../../../domain/interfaces/ILLMProvider';
import type { NormalizedOptions } from '../../../domain/types/LLMTypes';
import type { CompactionSetting } from '../../../domain/types/Compaction';
import type { IToolExecutor } from '../../../domain/interfaces/IToolExecutor';
import type { RunObserver } from '../../../domain/interfaces/Instrumentation';
import type { RunMessageStore } from '../../../domain/interfaces/RunMessageStore';
import type { RunStore } from '../../../domain/interfaces/RunStore';
import type { RunLease, RunRequest, ToolHash } from '../../../domain/types/RunRecords';
import type { RunLimits } from '../../../domain/types/RunLimits';
import type { ChildRuns } from '../tools/ChildRuns';
import type { LiveRun } from './LiveRun';
import type { RunPublisher } from './RunPublisher';
import type { DisclosedTools } from './toolSearch/DisclosedTools';
import type { RestoredRun } from './durable/restoreRun';
import type { WorkInProgress } from '../tools/WorkInProgress';
import type { ToolProcessor } from '../ToolProcessor';
import type { RunSignals } from '../tools/signals/RunSignals';
import type { ToolSet } from '../tools/ToolSet';

/** How the run came about, as far as its children depend on it. */
export type RunOrigin = Pick<
  RunRequest,
  'parentExecutionId' | 'parentCallId' | 'depth' | 'isQueued' | 'globalPriority'
>;

export interface RunContext {
  readonly run: LiveRun;
  readonly publisher: RunPublisher;
  readonly provider: ILLMProvider;
  readonly processor: ToolProcessor;
  /** The work in progress of all runs of this process. */
  readonly work: WorkInProgress;
  /** Gains the tool that reads what compaction has left out. */
  tools: ToolSet;
  /** What the model is given of them. Undefined: all. */
  readonly disclosedTools: DisclosedTools | undefined;
  readonly executor: IToolExecutor;
  readonly compaction: CompactionSetting;
  readonly signals: RunSignals;
  readonly messages: RunMessageStore;
  readonly children: ChildRuns;
  readonly origin: RunOrigin;
  /** Names of tools that were offered when the run began and that this process lacks. Absent: it was never without. */
  readonly missingTools?: readonly string[] | undefined;
  /** Definitions of tools other than the run began with, … */
  readonly toolHashes?: readonly ToolHash[] | undefined;
  /** … and the names of those with which it was under way. */
  readonly changedTools?: readonly string[] | undefined;
  /** Without the input while the store alone has it. */
  options: NormalizedOptions;
  readonly limits: RunLimits;
  readonly stream: boolean;
  /** Absent: nobody observes the run. */
  readonly observer?: RunObserver | undefined;
  /** Whether the run's user no longer exists. Absent: nobody asks. */
  readonly isUserRemoved?: ((userId: string) => Promise<boolean>) | undefined;
  /** `RunInterpreter.run` resolves with the first answer instead of the last. */
  readonly returnsEarly: boolean;
  /** Undefined if runs are not stored. */
  readonly journal: JournalContext | undefined;
  /** The progress that another process made. Undefined for a new run, and once it is not needed. */
  restored: RestoredRun | undefined;
  /** If set, the run ends with this error as soon as it starts. */
  readonly endError: LLMError | undefined;
}

export interface JournalContext {
  readonly runs: JournalHost;
  readonly lease: RunLease;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** How many items of the transcript the store has. */
  readonly storedItems: number;
  /** Published with `run:started`. */
  readonly metadata: Pick<RunRequest, 'providerId' | 'title' | 'conversationId' | 'createdAt'>;
  /** The transcript and the response were not read from the store, and must not be overwritten. */
  readonly keepsTranscript?: boolean;
}

/** What the journals of a process's runs share. */
export interface JournalHost {
  readonly store: RunStore;
  /** How long a lease lasts, and a failing store is retried, in milliseconds. */
  readonly leaseMs: number;
  /** Whether no other process can have claimed a run since the last heartbeat. */
  isLeaseCurrent(): boolean;

  /** Records that the run has made progress since it was taken over. @throws what the store throws */
  clearTakeovers(lease: RunLease): Promise<void>;
  /** Called when another process has taken the run over. */
  onLeaseLost(executionId: string): void;
  /** Called after a write with which a run, or one of its calls, is stored in a new state. */
  stateStored(userId: string): void;
}
