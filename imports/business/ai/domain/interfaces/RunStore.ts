/**
 * The journal of runs: what is about to be done before it is done, what came of it afterwards. People's views of it
 * are read elsewhere, from the documents that `DocumentRunStore` writes. A write names its lease: `false` says that
 * the run has another owner by now, and nothing was written.
 */
import type { ToolCall } from '../entities/Tool';
import type {
  ClaimReason,
  HeldRun,
  RunCommand,
  RunLease,
  RunProgress,
  RunRequest,
  StoredRun,
} from '../types/RunRecords';

/** A run with every call that was written down, in the order in which they were made. */
export interface WholeRun {
  readonly run: StoredRun;
  readonly calls: readonly ToolCall[];
}

export interface RunStore {
  /** No other process has this store: its owners are those of this process, and others need not be told of them. */
  readonly isExclusive: boolean;

  /**
   * Writes a run down before anything of it is done: `running` under its owner, or `queued` for whoever claims it,
   * with '' for an owner.
   * @throws ConflictError when the execution id, or the user's request id, is taken
   */
  create(request: RunRequest, state: 'queued' | 'running', owner: string): Promise<RunLease>;
  /**
   * Makes `owner` the run's owner if nobody else has become it since; a run that has ended keeps its last.
   * @returns everything that was written down, read after the last write that the old owner could make
   */
  claim(
    held: Pick<RunLease, 'executionId' | 'fence'>,
    owner: string,
    reason?: ClaimReason,
  ): Promise<(WholeRun & { readonly lease: RunLease }) | undefined>;
  /** One write; a finished run takes none. Fields that are absent stay as they are. */
  saveRun(lease: RunLease, change: Partial<RunProgress>): Promise<boolean>;
  /** The first write of a call. */
  addCall(lease: RunLease, call: ToolCall): Promise<boolean>;
  /** One write of everything that is known of the call: its result, and that the model is still to be told of it. */
  saveCall(lease: RunLease, call: ToolCall): Promise<boolean>;

  load(executionId: string): Promise<WholeRun | undefined>;
  /** The run that this user's request began. */
  findRequest(userId: string, requestId: string): Promise<StoredRun | undefined>;
  /** Runs that have an owner, none of these, and have not ended, the oldest first. */
  held(limit: number, except?: readonly string[]): Promise<readonly HeldRun[]>;

  /** Runs that wait for somebody who claims them, the oldest first. */
  queued(limit: number): Promise<readonly Pick<StoredRun, 'executionId' | 'dueAt'>[]>;

  /** Says that this owner lives. */
  heartbeat(owner: string): Promise<void>;
  /** How often each owner has said so; an owner that is not among them has left. */
  heartbeats(): Promise<ReadonlyMap<string, number>>;
  /** The owner leaves: what it still holds may be claimed at once. */
  removeOwner(owner: string): Promise<void>;

  /** @returns false when there is one with this id, which then stands */
  addCommand(command: RunCommand): Promise<boolean>;
  /** Those that nobody has carried out, the oldest first. */
  commands(limit: number): Promise<readonly RunCommand[]>;
  removeCommand(commandId: string): Promise<void>;
}
