/**
 * The stored runs of this process: created or claimed under its lease, given up when another process has claimed them,
 * and sent commands through the store.
 */
import { createHash } from 'node:crypto';
import { isFinished, UNOWNED } from '../../../../domain/entities/Run';
import type { RunResult, RunState } from '../../../../domain/entities/Run';
import type { ToolCall } from '../../../../domain/entities/Tool';
import { isStoreOutage } from '../../../../domain/errors/LLMErrors';
import type { RunInstrumentation } from '../../../../domain/interfaces/Instrumentation';
import type { Logger } from '../../../../domain/interfaces/Logger';
import { UnreadableRunError } from '../../../../domain/errors/UnreadableRunError';
import type { ClaimedStoredRun, OrphanClaim, RunStore, StoredRun } from '../../../../domain/interfaces/RunStore';
import type {
  ClaimReason,
  LeasedRun,
  RunAction,
  RunCommand,
  RunHead,
  RunLease,
  RunRecord,
  RunRequest,
  RunSuspicion,
  ToolNeeds,
} from '../../../../domain/types/RunRecords';
import type { ParkReason } from '../../../../domain/types/RunViews';
import { ClearedTakeovers } from './ClearedTakeovers';
import { loneDeaths, recoveryLimitReason } from './recoveryLimit';
import { RemoteRuns, decisionId } from './RemoteRuns';
import { neededTools, readStoredPlan, toStoredPlan } from '../planRun';
import { hasBegun, questionOfChanged, toolChanges } from '../../tools/toolChanges';
import { titleOf } from '../titleOf';
import type { PlannedRun } from '../planRun';
import type { RunOptions } from '../../../../domain/types/RunOptions';
import type { RunInterpreter } from '../RunInterpreter';
import type { WorkInProgress } from '../../tools/WorkInProgress';
import type { RunEntry } from '../RunRegistry';
import { LLMOverloadedError } from '../../../../domain/errors/LLMErrors';
import { runDetached } from '../../shared/runDetached';
import { sleep } from '../../shared/time';
import { LeaseLostError } from '../../../../domain/errors/LeaseLostError';
import type { RunStoreWriter } from './RunStoreWriter';
import type { JournalContext, JournalHost } from '../RunContext';
import { MAX_UNRECORDED_EVENTS } from './restoreRun';
import type { AgentEvent, AgentEventBody } from '../../../../domain/types/AgentEvents';
import { DEFAULT_LEASE_TIMES, LeaseHeartbeat } from './LeaseHeartbeat';
import type { LeaseTimes } from './LeaseHeartbeat';
import { DEFAULT_TOOL_WAIT_MS, ToolAvailability } from './ToolAvailability';
import { WorkLease } from './WorkLease';
import type { IToolExecutor } from '../../../../domain/interfaces/IToolExecutor';
import { omitUndefined } from '../../../../domain/util/omitUndefined';
import { watching } from '../../../../domain/util/watching';

/** Optional fields of a run's record that do not affect its execution. */
export type RunMetadata = Partial<
  Pick<
    RunRequest,
    | 'requestId'
    | 'argumentsHash'
    | 'source'
    | 'providerId'
    | 'model'
    | 'title'
    | 'conversationId'
    | 'tags'
    | 'metadata'
    | 'parentExecutionId'
    | 'parentCallId'
    | 'trace'
    | 'depth'
  >
>;

export interface ClaimedRun {
  readonly stored: StoredRun;
  readonly journal: JournalContext;
}

export interface LaunchedRun {
  /** Settles when the run ends. In an object, because a function that is awaited would wait for it. */
  readonly done: Promise<RunResult>;
}

/** How a run that no process executes is ended. */
export interface RunEnding {
  /** The message of its error. */
  readonly reason: string;
  /** Ends the claimed run with that error. */
  readonly launch: (claimed: ClaimedRun) => Promise<RunResult>;
  /** Cancels the runs that its calls have started. */
  readonly cancelChildren: (executionId: string) => Promise<void>;
}

export interface DurableRunsOptions {
  readonly store: RunStore;
  /** The runs of this process by their execution ids. */
  readonly live: Map<string, RunEntry>;
  /** While it drains, decisions wait in the store for the next owner. */
  readonly work: Pick<WorkInProgress, 'isDraining'>;
  readonly logger: Logger;
  readonly toolExecutor: IToolExecutor;
  /** Milliseconds for which a run waits for a process that has its tools. */
  readonly toolWaitMs?: number | undefined;
  readonly leaseTimes?: Partial<LeaseTimes> | undefined;
  readonly onStateStored?: ((userId: string) => void) | undefined;
  /** Absent: runs are not observed. */
  readonly instrumentation?: Pick<RunInstrumentation, 'ready'> | undefined;
  /** Receives the events of runs that no process executes. */
  readonly publish?: ((event: AgentEvent) => void) | undefined;
}

/** Milliseconds for which a process that shuts down waits for the store. */
const CLOSE_PATIENCE_MS = 5_000;

export class DurableRuns implements JournalHost {
  readonly remote: RemoteRuns;
  readonly store: RunStore;
  /** What this process does besides runs. */
  readonly otherWork: WorkLease;
  readonly tools: ToolAvailability;
  private readonly toolExecutor: IToolExecutor;
  private readonly live: Map<string, RunEntry>;
  private readonly work: DurableRunsOptions['work'];
  private readonly logger: Logger;
  private readonly times: LeaseTimes;
  private readonly onStateStored: DurableRunsOptions['onStateStored'];
  private readonly publish: DurableRunsOptions['publish'];
  private readonly instrumentation: DurableRunsOptions['instrumentation'];
  private readonly heartbeats: LeaseHeartbeat;
  private readonly clearedTakeovers: ClearedTakeovers;
  /** Runs that are being created or claimed, until they are live. */
  private readonly registering = new Map<string, Promise<unknown>>();
  /** Ids of applied commands whose effect is not recorded yet. */
  private readonly appliedCommands = new Set<string>();
  /** Ids of superseded commands that will be deleted once what they caused is stored. */
  private readonly finishingCommands = new Set<string>();
  /** Runs that are being left to other processes, or were, by their writers. */
  private readonly leaving = new Map<RunStoreWriter, Promise<void>>();
  private isClosed = false;
  private lost = 0;

  constructor(options: DurableRunsOptions) {
    const { store, live, work, logger, toolExecutor, leaseTimes, onStateStored } = options;
    const { toolWaitMs = DEFAULT_TOOL_WAIT_MS } = options;
    this.store = store;
    this.live = live;
    this.work = work;
    this.logger = logger;
    this.toolExecutor = toolExecutor;
    this.tools = new ToolAvailability(toolExecutor, toolWaitMs, !store.isExclusive);
    this.times = { ...DEFAULT_LEASE_TIMES, ...leaseTimes };
    this.onStateStored = onStateStored && watching('onStateStored', onStateStored, logger);
    this.publish = options.publish;
    this.instrumentation = options.instrumentation;
    this.remote = new RemoteRuns(store, this.times.heartbeat);
    this.clearedTakeovers = new ClearedTakeovers(store);
    this.heartbeats = new LeaseHeartbeat(store, this, this.times, logger);
    this.otherWork = new WorkLease(store, this.times, logger);
  }

  get ownerId(): string {
    return this.heartbeats.id;
  }

  /** The number of runs that this process owns or is about to own. */
  get size(): number {
    return this.live.size + this.registering.size;
  }

  /** How many runs this process has given up, or could not create or claim, and which may still name it as owner. */
  get losses(): number {
    return this.lost;
  }

  get leaseMs(): number {
    return this.times.lease;
  }

  clearTakeovers(lease: RunLease): Promise<void> {
    return this.clearedTakeovers.add(lease);
  }

  isLeaseCurrent(): boolean {
    return this.heartbeats.isLeaseCurrent();
  }

  onLeaseLost(executionId: string): void {
    this.lost += 1;
    this.live.delete(executionId);
  }

  stateStored(userId: string): void {
    this.onStateStored?.(userId);
  }

  isRegistering(executionId: string): boolean {
    return this.registering.has(executionId);
  }

  /** Resolves when a run that is being created or claimed is live, or this has failed. */
  async whenRegistered(executionId: string): Promise<void> {
    await this.registering.get(executionId)?.catch(() => undefined);
  }

  /** @throws ConflictError when the execution id, or the user's request id, is taken */
  create(
    metadata: RunMetadata & Pick<RunRequest, 'executionId' | 'userId' | 'providerId'>,
    plan: PlannedRun,
    requestedTools: RunOptions['tools'],
    launch: (journal: JournalContext) => Promise<RunResult>,
  ): Promise<LaunchedRun> {
    return this.register(metadata.executionId, async () => {
      const createdAt = Date.now();
      const storedPlan = toStoredPlan(plan, requestedTools);
      const request: RunRequest = {
        requestId: metadata.executionId,
        source: 'job',
        title: metadata.parentExecutionId === undefined ? '' : titleOf(plan.options.input),
        ...metadata,
        argumentsHash: metadata.argumentsHash ?? createHash('sha256').update(metadata.executionId).digest('hex'),
        createdAt,
        ...neededTools(storedPlan, this.toolExecutor),
        input: plan.options.input,
        plan: storedPlan,
      };
      const lease = await this.store.create(request, 'running', this.ownerId);
      return { done: launch(this.journalContext(lease, request, createdAt, request.input.length)) };
    });
  }

  /**
   * Makes this process the run's owner, or leaves the run to one that has its tools. A parked run is cleared of all
   * suspicion.
   * @param predicate claims the run only if it matches
   * @returns undefined when the run has ended, does not match, was left to another process, or claimed by one meanwhile
   * @throws LLMInvalidRequestError for an unknown run; UnreadableRunError, and the run is parked
   */
  claim(
    executionId: string,
    launch: (claimed: ClaimedRun) => Promise<RunResult>,
    predicate: (run: RunHead) => boolean = () => true,
  ): Promise<LaunchedRun | undefined> {
    return this.register(executionId, async () => {
      const head = await this.remote.head(executionId);
      if (isFinished(head.state) || !predicate(head)) return undefined;
      if (this.tools.lackedBy(head).length > 0) {
        if (head.owner === '') await this.leave(head);
        return undefined;
      }
      const isAccepted = head.parked?.reason === 'tool-changed';
      const suspicion = head.parked === undefined ? undefined : { takeovers: 0 };
      return this.claimAndLaunch(head, 'requested', suspicion, launch, isAccepted);
    });
  }

  /** Leaves a run whose owner is gone, or that has none, to a process that has the tools which this one lacks. */
  async leave(run: RunLease & ToolNeeds): Promise<void> {
    const { executionId, userId, owner, awaitedTools } = run;
    const names = this.tools.lackedBy(run);
    if (awaitedTools !== undefined || names.length === 0) return;
    if (!(await this.store.awaitTools(run, { names, since: Date.now() }))) return;
    this.logger.warn(
      `The run "${executionId}" waits for a process that has the tools which this one lacks: ${names.join(', ')}.`,
    );
    // Others notice that this count has changed, and scan.
    if (owner === '') await this.store.heartbeat(UNOWNED);
    this.stateStored(userId);
    await this.announce(executionId, { type: 'run:awaiting_tools', userId, names });
  }

  /**
   * Makes this process the owner of a run whose owner is gone.
   * @returns undefined when another process has claimed it since `lease` was read
   * @throws UnreadableRunError, and the run is parked
   */
  takeOver(
    lease: RunLease,
    reason: ClaimReason,
    suspicion: RunSuspicion,
    launch: (claimed: ClaimedRun) => Promise<RunResult>,
  ): Promise<LaunchedRun | undefined> {
    return this.register(lease.executionId, () => this.claimAndLaunch(lease, reason, suspicion, launch));
  }

  /**
   * Takes over many orphaned runs at once, as `takeOver` does one.
   * @returns for each of the claims, in their order: its result, as `resultOf` gives it
   */
  takeOverAll(
    claims: readonly OrphanClaim[],
    launch: (claimed: ClaimedRun) => Promise<RunResult>,
  ): readonly Promise<RunResult | undefined>[] {
    let claiming: ReturnType<RunStore['claimOrphans']> | undefined;
    const takeOver = (lease: RunLease): Promise<LaunchedRun | undefined> =>
      this.parkingUnreadable(lease, async () => {
        // Once this process counts as alive.
        claiming ??= this.store.claimOrphans(claims, this.ownerId);
        const claimed = (await claiming).get(lease.executionId);
        if (claimed instanceof Error) throw claimed;
        return claimed === undefined ? undefined : this.launchClaimed(claimed, 'orphaned', launch);
      });
    return claims.map(async ({ lease }) => {
      const { executionId } = lease;
      const launched = await this.register(executionId, () => takeOver(lease));
      return launched === undefined ? undefined : this.resultOf(executionId, launched.done);
    });
  }

  /**
   * Claimed before it is read: a run that cannot even be read must count as taken over, too.
   * @param isAccepted a person has decided that it goes on with tools that have changed
   */
  private claimAndLaunch(
    lease: RunLease,
    reason: ClaimReason,
    suspicion: RunSuspicion | undefined,
    launch: (claimed: ClaimedRun) => Promise<RunResult>,
    isAccepted = false,
  ): Promise<LaunchedRun | undefined> {
    return this.parkingUnreadable(lease, async () => {
      const claimed = await this.store.claim(lease, this.ownerId, reason, suspicion);
      return claimed === undefined ? undefined : this.launchClaimed(claimed, reason, launch, isAccepted);
    });
  }

  /** @returns undefined if it was parked @throws UnreadableRunError */
  private async launchClaimed(
    claimed: ClaimedStoredRun,
    reason: ClaimReason,
    launch: (claimed: ClaimedRun) => Promise<RunResult>,
    isAccepted = false,
  ): Promise<LaunchedRun | undefined> {
    const loading = this.instrumentation?.ready();
    if (loading !== undefined) await loading;
    const question = isAccepted || reason === 'end' ? undefined : this.questionAbout(claimed.run);
    if (question !== undefined) {
      await this.parkClaimed(claimed.lease, 'tool-changed', question);
      return undefined;
    }
    const journal = this.claimedContext(claimed);
    return { done: launch({ stored: claimed, journal: { ...journal, keepsTranscript: reason === 'end' } }) };
  }

  /**
   * @returns why a person must decide whether the run goes on with the tools of this process
   * @throws UnreadableRunError
   */
  private questionAbout(run: RunRecord): string | undefined {
    if (!hasBegun(run) || run.error !== undefined) return undefined;
    try {
      const { plan, error } = readStoredPlan(run, this.toolExecutor);
      return error === undefined ? questionOfChanged(toolChanges(run, plan.tools)) : undefined;
    } catch (error) {
      throw new UnreadableRunError(run.executionId, error);
    }
  }

  /** Parks a run that kills its owners. Its conversation is not read. */
  park(lease: LeasedRun): Promise<void> {
    return this.register(lease.executionId, () =>
      this.parkingUnreadable(lease, async () => {
        const claimed = await this.store.claim(lease, this.ownerId, 'end');
        if (claimed === undefined) return;
        await this.parkClaimed(claimed.lease, 'max-takeovers', recoveryLimitReason(loneDeaths(lease), claimed.calls));
      }),
    );
  }

  /** @param work claims the run @throws UnreadableRunError, once the run is parked */
  private async parkingUnreadable<T>(lease: RunLease, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof UnreadableRunError)
        await this.parkClaimed({ ...lease, fence: lease.fence + 1 }, 'unreadable', error.message);
      throw error;
    }
  }

  private async parkClaimed(lease: RunLease, reason: ParkReason, message: string): Promise<void> {
    const { executionId, userId } = lease;
    if (!(await this.store.park(lease, { reason, message, at: Date.now() }))) return;
    this.logger.warn(`The run "${executionId}" waits for a person to resume or end it. ${message}`);
    this.stateStored(userId);
    await this.announce(executionId, { type: 'run:parked', userId, reason, message });
  }

  /**
   * Publishes an event of a run that no process executes. Its number follows the last owner's events, and precedes
   * those of the next owner.
   */
  private async announce(executionId: string, body: AgentEventBody): Promise<void> {
    const head = await this.store.head(executionId);
    if (head === undefined) return;
    const seq = head.seq + (head.fence + 1) * MAX_UNRECORDED_EVENTS;
    this.publish?.({ executionId, at: Date.now(), seq, ...body });
  }

  /** The result of a run of this process; if its lease is lost, its result in the process that continues it. */
  async resultOf(executionId: string, done: Promise<RunResult>, signal?: AbortSignal): Promise<RunResult> {
    try {
      return await done;
    } catch (error) {
      if (!(error instanceof LeaseLostError)) throw error;
      if (this.isClosed || this.work.isDraining)
        throw new LLMOverloadedError('The process is shutting down. The run continues in another process.', {
          cause: error,
        });
      return this.remote.waitForResult(executionId, signal);
    }
  }

  /**
   * Ends a run that has no owner, and asks the owner of any other to cancel it.
   * @returns the run's present state
   * @throws LLMInvalidRequestError for an unknown run
   */
  async cancel(executionId: string, ending: RunEnding): Promise<RunState> {
    const head = await this.remote.head(executionId);
    if (isFinished(head.state)) return head.state;
    const isNobodys = head.owner === '' || head.owner === UNOWNED || head.awaitedTools !== undefined;
    if (isNobodys && (await this.end(head, ending))) return 'cancelled';
    await this.remote.sendCancel(executionId);
    return head.state;
  }

  /**
   * Ends a parked run.
   * @returns false if it is not parked any more
   * @throws LLMInvalidRequestError for an unknown run
   */
  async endParked(executionId: string, ending: RunEnding): Promise<boolean> {
    const head = await this.remote.head(executionId);
    return head.parked !== undefined && (await this.end(head, ending));
  }

  /** @returns false when another process has claimed the run */
  private async end(head: RunHead, ending: RunEnding): Promise<boolean> {
    // Only a run that was executed has calls to cancel, and followers to notify.
    const { parked, awaitedTools, owner, state } = head;
    const isLeft = awaitedTools !== undefined || owner === UNOWNED;
    const hasRun = parked === undefined ? isLeft && state !== 'queued' : true;
    if (hasRun && parked?.reason !== 'unreadable') {
      try {
        const launched = await this.takeOver(head, 'end', { takeovers: 0 }, ending.launch);
        await launched?.done.catch(() => undefined);
        return launched !== undefined;
      } catch (error) {
        if (!(error instanceof UnreadableRunError)) throw error;
        return this.end(await this.remote.head(head.executionId), ending);
      }
    }
    // Before the end is recorded: until then, whoever ends the run does it again.
    if (hasRun) await ending.cancelChildren(head.executionId);
    const error = { code: 'aborted', message: ending.reason } as const;
    const isEnded = await this.store.end(head, { state: 'cancelled', endedAt: Date.now(), error });
    if (isEnded) this.stateStored(head.userId);
    return isEnded;
  }

  /**
   * Stores the command, and applies it at once if this process owns the run.
   * @returns false if an earlier command has settled the call's present wait
   */
  async send(executionId: string, call: ToolCall, action: RunAction): Promise<boolean> {
    const command = await this.remote.send(executionId, call, action);
    if (command === undefined) return false;
    this.apply(command);
    return true;
  }

  /**
   * Applies a command to a run of this process, detached from whoever sent it. The command is deleted once its effect
   * is recorded.
   */
  apply(command: RunCommand): void {
    runDetached(() => this.applyToLive(command));
  }

  heartbeat(): void {
    for (const { interpreter } of this.live.values()) interpreter.heartbeat();
  }

  async checkLeases(): Promise<void> {
    await Promise.allSettled(this.writers().map((writer) => writer.verifyLease()));
  }

  /**
   * Leaves the runs of which nothing is in progress to other processes, while this one waits for the rest: a run must
   * not wait for the model calls and tools of others.
   */
  leaveIdle(): void {
    // An exclusive store has no other processes.
    if (this.store.isExclusive || this.isClosed) return;
    for (const { interpreter } of this.live.values()) {
      const { writer } = interpreter;
      if (writer === undefined || !interpreter.isIdle || this.leaving.has(writer)) continue;
      const left = this.leaveToOthers(interpreter, writer).catch((error: unknown) => {
        // `close` leaves it.
        if (!isStoreOutage(error) && !(error instanceof LeaseLostError))
          this.logger.warn(
            `Run "${writer.lease.executionId}" moves to another process only when this one ends.`,
            error,
          );
      });
      this.leaving.set(writer, left);
    }
  }

  private async leaveToOthers(interpreter: RunInterpreter, writer: RunStoreWriter): Promise<void> {
    interpreter.markProgress();
    await writer.flush();
    if (!interpreter.isIdle) {
      // The next call of `leaveIdle` tries again, once the run is idle.
      this.leaving.delete(writer);
      return;
    }
    // It was cancelled meanwhile, or taken over.
    if (!(await this.store.release(writer.lease))) return;
    interpreter.abandon(new LeaseLostError('The process is shutting down. The run continues in another process.'));
    // Others notice that this count has changed, and scan.
    await this.store.heartbeat(UNOWNED);
  }

  /** Abandons all runs, so that another process, or the next one, can continue them. */
  async close(): Promise<void> {
    this.isClosed = true;
    const closed = new AbortController();
    const interpreters = [...this.live.values()].map(({ interpreter }) => interpreter);
    for (const interpreter of interpreters) interpreter.markProgress();
    // A store that cannot be reached must not hold the process up.
    await Promise.race([
      Promise.allSettled([...this.leaving.values(), ...this.writers().map((writer) => writer.flush())]),
      sleep(CLOSE_PATIENCE_MS, closed.signal).catch(() => undefined),
    ]);
    closed.abort();
    for (const interpreter of interpreters)
      interpreter.abandon(new LeaseLostError('The process is shutting down. The run continues in another process.'));
    try {
      await this.otherWork.close();
      await this.heartbeats.release();
    } catch (error) {
      // The runs are taken over when the lease has expired.
      if (!isStoreOutage(error)) throw error;
    }
  }

  private applyToLive({ id, executionId, action }: RunCommand): void {
    const entry = this.live.get(executionId);
    if (entry === undefined || (this.work.isDraining && action.kind !== 'cancel')) return;
    const { interpreter, run } = entry;
    if (action.kind === 'signal' || action.kind === 'message') {
      // Deleted before the store is searched: what comes later brings a command of its own.
      void this.store.removeCommand(id).then(
        () => interpreter.apply(action),
        (error: unknown) => this.logger.warn('Could not delete an applied run command.', error),
      );
      return;
    }
    const call = action.kind === 'cancel' ? undefined : run.current.calls.get(action.callId);
    if (action.kind !== 'cancel' && (call === undefined || decisionId(executionId, call) !== id)) {
      this.deleteCommandWhenRecorded(id, interpreter);
      return;
    }
    interpreter.apply(action);
    if (!this.appliedCommands.has(id)) interpreter.onEnd(() => this.deleteCommand(id));
    this.appliedCommands.add(id);
  }

  private writers(): readonly RunStoreWriter[] {
    return [...this.live.values()].flatMap(({ interpreter }) => interpreter.writer ?? []);
  }

  /** @param launch puts the run among the live ones, so that there is no moment in which it seems to be nobody's */
  private async register<T>(executionId: string, launch: () => Promise<T>): Promise<T> {
    const launched = this.heartbeats.start().then(launch);
    this.registering.set(executionId, launched);
    try {
      return await launched;
    } catch (error) {
      this.lost += 1;
      throw error;
    } finally {
      this.registering.delete(executionId);
    }
  }

  private claimedContext({ lease, run }: ClaimedStoredRun): JournalContext {
    return this.journalContext(lease, run, run.startedAt ?? Date.now(), run.transcript.length);
  }

  private journalContext(
    lease: RunLease,
    { providerId, title, conversationId, createdAt }: JournalContext['metadata'],
    startedAt: number,
    storedItems: number,
  ): JournalContext {
    const metadata = omitUndefined({ providerId, title, createdAt, conversationId });
    return { runs: this, lease, startedAt, storedItems, metadata };
  }

  /**
   * Deletes a command whose call no longer waits for it, once that is recorded. Not awaited, because a slow store must
   * not delay the heartbeat.
   */
  private deleteCommandWhenRecorded(commandId: string, { writer }: RunInterpreter): void {
    if (writer === undefined || this.finishingCommands.has(commandId)) return;
    this.finishingCommands.add(commandId);
    writer
      .flush()
      .then(() => this.deleteCommand(commandId))
      // The run's next owner deletes it.
      .catch(() => undefined)
      .finally(() => this.finishingCommands.delete(commandId));
  }

  private deleteCommand(commandId: string): void {
    this.appliedCommands.delete(commandId);
    this.store
      .removeCommand(commandId)
      .catch((error: unknown) => this.logger.warn('Could not delete an applied run command.', error));
  }
}
