/**
 * The runs of this process that are written down: begun or claimed under its name, given up when they have another
 * owner, reached through the store.
 */
import { createHash } from 'node:crypto';
import { isFinished } from '../../../../domain/entities/Run';
import type { RunResult, RunState } from '../../../../domain/entities/Run';
import type { ToolCall } from '../../../../domain/entities/Tool';
import type { Logger } from '../../../../domain/interfaces/Logger';
import type { RunStore, WholeRun } from '../../../../domain/interfaces/RunStore';
import type {
  ClaimReason,
  HeldRun,
  RunCommand,
  RunLease,
  RunOrder,
  RunRequest,
  StoredRun,
} from '../../../../domain/types/RunRecords';
import { RemoteRuns, decisionId } from './RemoteRuns';
import type { LiveRun } from '../LiveRun';
import { toStoredPlan } from '../planRun';
import type { PlannedRun, RunOptions } from '../planRun';
import type { RunLoop } from '../RunLoop';
import { LeaseLostError } from './RunJournal';
import type { RunJournal } from './RunJournal';
import type { JournalContext } from '../RunContext';
import { DEFAULT_LEASE_TIMES, LeaseHeartbeat } from './LeaseHeartbeat';
import type { LeaseTimes } from './LeaseHeartbeat';

/** What is known of a run beside what it does; what is absent has a default. */
export type RunMetadata = Partial<
  Pick<RunRequest, 'requestId' | 'argumentsHash' | 'source' | 'providerId' | 'model' | 'title'>
>;

export interface ClaimedRun {
  readonly whole: WholeRun;
  readonly journal: JournalContext;
}

export interface JournaledRunsParts {
  readonly store: RunStore;
  /** The runs that are under way in this process. */
  readonly live: Map<string, { readonly execution: LiveRun; readonly driver: RunLoop }>;
  readonly logger: Logger;
  readonly leaseTimes?: Partial<LeaseTimes>;
}

export class DurableRuns {
  readonly runs: RemoteRuns;
  private readonly parts: JournaledRunsParts;
  private readonly times: LeaseTimes;
  private readonly leases: LeaseHeartbeat;
  /** Runs that are being created or claimed. */
  private readonly registering = new Set<string>();
  /** Commands that stand until their effect is written down. */
  private readonly appliedCommands = new Set<string>();
  /** Commands whose wait is over, until that is written down. */
  private readonly finishingCommands = new Set<string>();
  private isClosed = false;

  constructor(parts: JournaledRunsParts) {
    this.parts = parts;
    this.times = { ...DEFAULT_LEASE_TIMES, ...parts.leaseTimes };
    this.runs = new RemoteRuns(parts.store, this.times.heartbeat);
    this.leases = new LeaseHeartbeat(parts.store, this, this.times, parts.logger);
  }

  get ownerId(): string {
    return this.leases.id;
  }

  /** Runs for which this process has to live. */
  get size(): number {
    return this.parts.live.size + this.registering.size;
  }

  isArriving(executionId: string): boolean {
    return this.registering.has(executionId);
  }

  /** @throws ConflictError */
  create(
    asked: RunMetadata & Pick<RunRequest, 'executionId' | 'userId' | 'providerId'>,
    plan: PlannedRun,
    wantedTools: RunOptions['tools'],
  ): Promise<JournalContext> {
    return this.register(asked.executionId, async () => {
      const createdAt = Date.now();
      const request: RunRequest = {
        requestId: asked.executionId,
        argumentsHash: createHash('sha256').update(asked.executionId).digest('hex'),
        source: 'job',
        title: '',
        ...asked,
        createdAt,
        input: plan.options.input,
        plan: toStoredPlan(plan, wantedTools),
      };
      return this.journal(await this.parts.store.create(request, 'running', this.leases.id), request, createdAt);
    });
  }

  /**
   * Makes this process the run's owner. @returns undefined when the run has ended, or somebody else was faster
   * @throws LLMInvalidRequestError for an unknown run
   */
  claim(executionId: string, isMeant: (run: StoredRun) => boolean = () => true): Promise<ClaimedRun | undefined> {
    return this.register(executionId, async () => {
      const { run } = await this.runs.load(executionId);
      const claimed =
        isFinished(run.state) || !isMeant(run) ? undefined : await this.parts.store.claim(run, this.leases.id);
      return claimed === undefined
        ? undefined
        : { whole: claimed, journal: this.journal(claimed.lease, claimed.run, claimed.run.startedAt ?? Date.now()) };
    });
  }

  /**
   * The same for a run whose owner is gone; one that is only to be ended comes without what was said in it.
   * @returns undefined when somebody else was faster
   */
  takeOver(seen: HeldRun, reason: ClaimReason): Promise<ClaimedRun | undefined> {
    return this.register(seen.executionId, async () => {
      // Not read before it is claimed: what can't be read is counted too.
      const claimed = await this.parts.store.claim(seen, this.leases.id, reason);
      if (claimed === undefined) return undefined;
      const journal = this.journal(claimed.lease, claimed.run, claimed.run.startedAt ?? Date.now());
      return { whole: claimed, journal: { ...journal, keepsTranscript: reason === 'end' } };
    });
  }

  /** The end of a run that is under way here; when it is lost here, its end elsewhere. */
  async endOf(executionId: string, done: Promise<RunResult>, signal?: AbortSignal): Promise<RunResult> {
    try {
      return await done;
    } catch (error) {
      if (this.isClosed || !(error instanceof LeaseLostError)) throw error;
      return this.runs.follow(executionId, signal);
    }
  }

  cancel(executionId: string): Promise<RunState> {
    return this.runs.cancel(executionId, this.leases.id);
  }

  /**
   * What was accepted is written down first, and carried out at once when the run is here. @returns false when
   * somebody else was first
   */
  async settle(executionId: string, call: ToolCall, order: RunOrder): Promise<boolean> {
    const command = await this.runs.send(executionId, call, order);
    if (command === undefined) return false;
    this.apply(command);
    return true;
  }

  /** Carries a command out at once; it is struck off when what came of it is written down. */
  apply({ id, executionId, order }: RunCommand): void {
    const entry = this.parts.live.get(executionId);
    if (entry === undefined) return;
    const { driver, execution } = entry;
    const call = order.kind === 'cancel' ? undefined : execution.calls.get(order.callId);
    if (order.kind !== 'cancel' && (call === undefined || decisionId(executionId, call) !== id)) {
      this.deleteCommandWhenRecorded(id, driver);
      return;
    }
    driver.apply(order);
    if (!this.appliedCommands.has(id)) driver.onEnd(() => this.deleteCommand(id));
    this.appliedCommands.add(id);
  }

  heartbeat(): void {
    for (const journal of this.journals()) journal.heartbeat();
  }

  async checkLeases(): Promise<void> {
    await Promise.allSettled(this.journals().map((journal) => journal.verifyLease()));
  }

  /** Leaves the runs to whoever comes next. */
  async close(): Promise<void> {
    this.isClosed = true;
    const drivers = [...this.parts.live.values()].map(({ driver }) => driver);
    for (const driver of drivers) driver.markProgress();
    await Promise.allSettled(this.journals().map((journal) => journal.flush()));
    for (const driver of drivers)
      driver.abandon(new LeaseLostError('The process is being stopped; the run goes on in its next life.'));
    await this.leases.release();
  }

  private journals(): readonly RunJournal[] {
    return [...this.parts.live.values()].flatMap(({ driver }) => driver.journal ?? []);
  }

  private async register<T>(executionId: string, begin: () => Promise<T>): Promise<T> {
    this.registering.add(executionId);
    try {
      await this.leases.start();
      return await begin();
    } finally {
      this.registering.delete(executionId);
    }
  }

  private journal(
    lease: RunLease,
    { providerId, title, createdAt }: JournalContext['metadata'],
    startedAt: number,
  ): JournalContext {
    return {
      metadata: { providerId, title, createdAt },
      store: this.parts.store,
      lease,
      startedAt,
      retryForMs: this.times.lease,
      isLeaseCurrent: () => this.leases.isLeaseCurrent(),
      onLost: () => this.parts.live.delete(lease.executionId),
    };
  }

  /**
   * The wait that the command was for is over. Nobody waits for this: the store may be slow, and signs of life have
   * to go on.
   */
  private deleteCommandWhenRecorded(commandId: string, { journal }: RunLoop): void {
    if (journal === undefined || this.finishingCommands.has(commandId)) return;
    this.finishingCommands.add(commandId);
    journal
      .flush()
      .then(() => this.deleteCommand(commandId))
      // Whoever has the run by then does it.
      .catch(() => undefined)
      .finally(() => this.finishingCommands.delete(commandId));
  }

  private deleteCommand(commandId: string): void {
    this.appliedCommands.delete(commandId);
    this.parts.store
      .removeCommand(commandId)
      .catch((error: unknown) =>
        this.parts.logger.warn('a command that was carried out could not be struck off', error),
      );
  }
}
