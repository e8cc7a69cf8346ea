/**
 * The journal of runs: each step is recorded before it is taken, and its outcome afterwards. Writes carry the
 * writer's lease; `false` means that the run has another owner by now and nothing was written. What people see of
 * runs is read through `RunViewReader`.
 */
import type { ToolCall } from '../entities/Tool';
import type { DeliveredMessage, StoredMessages } from '../types/RunMessages';
import type { RunMessageStore } from './RunMessageStore';
import type { RunSignalStore } from './RunSignalStore';
import type {
  ClaimReason,
  LeasedRun,
  QueuedRunHead,
  RunCommand,
  RunHead,
  RunLease,
  RunProgress,
  RunRecord,
  RunRequest,
  RunSuspicion,
  WorkingRun,
} from '../types/RunRecords';
import type { Budget } from '../types/RunLimits';
import type { AwaitedTools, ParkedRun } from '../types/RunViews';

/** A run with its recorded tool calls, oldest first. */
export interface StoredRun {
  readonly run: RunRecord;
  readonly calls: readonly ToolCall[];
  /** Absent: whoever continues the run writes all open calls anew. */
  readonly recorded?: RecordedCalls;
  /** Absent: the run was sent no message. */
  readonly messages?: StoredMessages;
  /** The same that `RunStore.versions` returns. */
  readonly version?: string;
}

/** A run as its new owner has it. */
export interface ClaimedStoredRun extends StoredRun {
  readonly lease: RunLease;
}

export interface OrphanClaim {
  /** The lease as it was read. */
  readonly lease: RunLease;
  readonly suspicion: RunSuspicion;
}

/** Where the calls of a run are stored. See `OpenCalls`. */
export interface RecordedCalls {
  /** Ids of calls that the run's own write has recorded. */
  readonly withRun: readonly string[];
  /** Ids of those that are not stored, in this state, by `saveCalls` as well. */
  readonly onlyWithRun: readonly string[];
}

/**
 * The calls that a run's own write records. They are read with the run until they settle: a call that `saveCalls` has
 * stored as settled takes precedence.
 */
export interface OpenCalls {
  /** Calls that have not settled. */
  readonly changed: readonly ToolCall[];
  /** Ids of calls that earlier writes recorded and that `saveCalls` has stored as settled since. */
  readonly settled: readonly string[];
}

/** How many items at the beginning of a transcript a store has already. */
export interface TranscriptItems {
  /** The number that earlier writes have stored, and that have not changed since. Default: 0 */
  readonly stored?: number;
  /** The number that the run's input has, which `create` has stored. Default: 0 */
  readonly input?: number;
}

/** What the write of a run says of the messages that were sent to it. */
export interface MessageProgress {
  /** Messages that the transcript has by now: they leave the queue. */
  readonly delivered: readonly DeliveredMessage[];
  /** How many the run has seen: it does not complete if it was sent more. */
  readonly sent: number;
}

/** A run that a call of another one has started. */
export interface ChildRun {
  readonly executionId: string;
  readonly isFinished: boolean;
  /** By its own model calls: not by those of the runs below it. */
  readonly spent: Required<Budget>;
}

/** Runs that wait for one of these tools. */
export interface ToolWaits {
  readonly tools: readonly string[];
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** Which queued run starts next. */
export interface QueueTurn {
  /** Milliseconds since the epoch. Runs that are due later wait. */
  readonly now: number;
  /** The user whose run started last: the turn goes to the next user after it. */
  readonly after?: string;
  /** Execution ids that are left out. */
  readonly except: readonly string[];
  /** Users of whom no more runs may start. */
  readonly fullUsers: readonly string[];
  /** How many runs are at work under each user's keys. A run does not start if that is its limit. */
  readonly keys: readonly (Pick<WorkingRun, 'userId'> & { readonly key: string; readonly working: number })[];
}

/** Lets one process at a time choose a run and start it, so that limits hold across processes. */
export interface QueueLock {
  /** @returns undefined while another process has the lock */
  acquire(owner: string): Promise<HeldQueueLock | undefined>;
}

export interface HeldQueueLock {
  /**
   * Names the run that is about to be claimed: if the lock is lost before, so is the right to claim it.
   * @returns false if the lock is lost
   */
  choose(run: Pick<QueuedRunHead, 'executionId' | 'fence'>): Promise<boolean>;
  release(): Promise<void>;
}

export interface RunStore {
  /** No other process uses this store, so that owners need no heartbeats. */
  readonly isExclusive: boolean;
  /** Absent if no other process uses this store. */
  readonly queueLock?: QueueLock | undefined;
  readonly signals: RunSignalStore;
  readonly messages: RunMessageStore;

  /**
   * Records a run before anything else is done for it: as `running` under its owner, or as `queued` with the owner
   * '' until a worker claims it.
   * @throws ConflictError when the execution id, or the user's request id, is taken
   */
  create(request: RunRequest, state: 'queued' | 'running', owner: string): Promise<RunLease>;
  /**
   * Makes `owner` the run's owner, provided that the run has not ended and nobody claimed it since `lease` was read.
   * @param reason default: `requested`
   * @param suspicion written with the claim. Default: for an orphaned run one more takeover, otherwise unchanged
   * @returns the run as read after the previous owner lost its right to write; undefined if it was not claimed
   * @throws UnreadableRunError if it was claimed, but cannot be read
   */
  claim(
    lease: Pick<RunLease, 'executionId' | 'fence'>,
    owner: string,
    reason?: ClaimReason,
    suspicion?: RunSuspicion,
  ): Promise<ClaimedStoredRun | undefined>;
  /**
   * Claims orphaned runs, each as `claim` does, with few commands for all of them.
   * @returns by execution id, those that were claimed; in place of one that cannot be read, the error that says why
   */
  claimOrphans(claims: readonly OrphanClaim[], owner: string): Promise<ReadonlyMap<string, ClaimedStoredRun | Error>>;
  /**
   * Records that runs which were taken over have made progress. Those that have ended, or were claimed since their
   * leases were read, stay as they are.
   */
  clearTakeovers(leases: readonly RunLease[]): Promise<void>;
  /**
   * One atomic write. Absent fields stay as they are; a run that has ended does not change any more.
   * @param change with the entire transcript if it has grown, and at the end of the run
   * @param calls recorded with the run, so that the run and the calls that its transcript contains are never apart
   * @param items default: none
   * @param messages default: none were delivered or seen
   * @returns `addressed` if it would complete a run that was sent a message which it has not seen
   */
  saveRun(
    lease: RunLease,
    change: Partial<RunProgress>,
    calls?: OpenCalls,
    items?: TranscriptItems,
    messages?: MessageProgress,
  ): Promise<boolean | 'addressed'>;
  /**
   * Writes complete calls, including their results and whether the model has received them. Each write of a call is
   * atomic; `false` means that not all were written.
   */
  saveCalls(lease: RunLease, calls: readonly ToolCall[]): Promise<boolean>;

  /**
   * Leaves a run to any other process: it is `UNOWNED` until it is claimed. It must not be written to afterwards.
   * @returns false if it has ended, or was claimed since `lease` was read
   */
  release(lease: Pick<RunLease, 'executionId' | 'fence' | 'owner'>): Promise<boolean>;

  /**
   * Leaves a run without a live owner to the processes that have the tools it needs. If it has no owner, it is
   * `UNOWNED` from then on, and no longer parked.
   * @returns false if it has ended, or was claimed since `lease` was read
   */
  awaitTools(lease: Pick<RunLease, 'executionId' | 'fence' | 'owner'>, awaited: AwaitedTools): Promise<boolean>;

  /**
   * Sets a run aside without reading it: it has no owner until it is claimed, and whoever owned it can no longer write
   * to it. @returns false if it has ended, or was claimed since `lease` was read
   */
  park(lease: Pick<RunLease, 'executionId' | 'fence'>, parked: ParkedRun): Promise<boolean>;
  /**
   * Ends a run without reading it, and shows its open calls as cancelled. @returns false as `park` does
   */
  end(
    lease: Pick<RunLease, 'executionId' | 'fence'>,
    end: Required<Pick<RunProgress, 'state' | 'endedAt' | 'error'>>,
  ): Promise<boolean>;

  /** @throws UnreadableRunError */
  load(executionId: string): Promise<StoredRun | undefined>;
  /**
   * What differs once a run or its calls have been written again, for a fraction of the cost of reading them.
   * @returns by execution id, of those that exist
   */
  versions(executionIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Also of a run that cannot be read. */
  head(executionId: string): Promise<RunHead | undefined>;
  /** The run that was created for this user's request. */
  findRequest(userId: string, requestId: string): Promise<RunRecord | undefined>;
  /** Ids of the user's runs that have not ended, oldest first. */
  unfinishedOf(userId: string, limit: number): Promise<readonly string[]>;
  /** Returns those of the runs that exist and have not ended. */
  unfinishedAmong(executionIds: readonly string[]): Promise<readonly string[]>;
  /** The runs that calls of this run have started. */
  childrenOf(executionId: string): Promise<readonly ChildRun[]>;
  /**
   * Unfinished runs that have an owner, oldest first.
   * @param except owners whose runs are left out
   * @param others what else is left out: runs that wait for any of these tools since that time, or a later one
   */
  leased(limit: number, except?: readonly string[], others?: ToolWaits): Promise<readonly LeasedRun[]>;
  /** Runs that wait for a worker, oldest first. */
  queued(limit: number): Promise<readonly Pick<RunRecord, 'executionId' | 'dueAt'>[]>;

  /**
   * The run that starts next: of those with the highest `globalPriority`, one of the user whose turn it is; of that
   * user's, the one with the highest `priority` that was queued first.
   */
  nextQueued(turn: QueueTurn): Promise<QueuedRunHead | undefined>;
  /** The queued runs that any process works on. */
  working(): Promise<readonly WorkingRun[]>;

  /** Increments the owner's heartbeat count. */
  heartbeat(owner: string): Promise<void>;
  /** The heartbeat count of each owner. An owner that is absent has left. */
  heartbeats(): Promise<ReadonlyMap<string, number>>;
  /** The owner leaves: its remaining runs may be claimed at once. */
  removeOwner(owner: string): Promise<void>;

  /** @returns false if a command with this id exists; that one stays in force */
  addCommand(command: RunCommand): Promise<boolean>;
  /** Commands that have not been removed, oldest first. */
  commands(limit: number): Promise<readonly RunCommand[]>;
  removeCommand(commandId: string): Promise<void>;
}
