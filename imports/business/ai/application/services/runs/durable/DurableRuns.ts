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
import { DistantRuns, waitId } from './RemoteRuns';
import type { Execution } from '../LiveRun';
import { toStoredPlan } from '../planRun';
import type { PlannedRun, RunWishes } from '../planRun';
import type { RunDriver } from '../RunLoop';
import { LeaseLostError } from './RunJournal';
import type { RunJournal } from './RunJournal';
import type { JournalParts } from '../RunContext';
import { DEFAULT_LEASE_TIMES, RunOwner } from './LeaseHeartbeat';
import type { LeaseTimes } from './LeaseHeartbeat';

/** What is known of a run beside what it does; what is absent has a default. */
export type AskedRun = Partial<
  Pick<RunRequest, 'requestId' | 'argumentsHash' | 'source' | 'providerId' | 'model' | 'title'>
>;

export interface ClaimedRun {
  readonly whole: WholeRun;
  readonly journal: JournalParts;
}

export interface JournaledRunsParts {
  readonly store: RunStore;
  /** The runs that are under way in this process. */
  readonly live: Map<string, { readonly execution: Execution; readonly driver: RunDriver }>;
  readonly logger: Logger;
  readonly leaseTimes?: Partial<LeaseTimes>;
}

export class JournaledRuns {
  readonly runs: DistantRuns;
  private readonly parts: JournaledRunsParts;
  private readonly times: LeaseTimes;
  private readonly owner: RunOwner;
  /** Runs that are being created or claimed. */
  private readonly arriving = new Set<string>();
  /** Commands that stand until their effect is written down. */
  private readonly obeyed = new Set<string>();
  /** Commands whose wait is over, until that is written down. */
  private readonly leaving = new Set<string>();
  private isClosed = false;

  constructor(parts: JournaledRunsParts) {
    this.parts = parts;
    this.times = { ...DEFAULT_LEASE_TIMES, ...parts.leaseTimes };
    this.runs = new DistantRuns(parts.store, this.times.heartbeat);
    this.owner = new RunOwner(parts.store, this, this.times, parts.logger);
  }

  get ownerId(): string {
    return this.owner.id;
  }

  /** Runs for which this process has to live. */
  get size(): number {
    return this.parts.live.size + this.arriving.size;
  }

  isArriving(executionId: string): boolean {
    return this.arriving.has(executionId);
  }

  /** @throws ConflictError */
  create(
    asked: AskedRun & Pick<RunRequest, 'executionId' | 'userId' | 'providerId'>,
    plan: PlannedRun,
    wantedTools: RunWishes['tools'],
  ): Promise<JournalParts> {
    return this.arrive(asked.executionId, async () => {
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
      return this.journal(await this.parts.store.create(request, 'running', this.owner.id), request, createdAt);
    });
  }

  /**
   * Makes this process the run's owner. @returns undefined when the run has ended, or somebody else was faster
   * @throws LLMInvalidRequestError for an unknown run
   */
  claim(executionId: string, isMeant: (run: StoredRun) => boolean = () => true): Promise<ClaimedRun | undefined> {
    return this.arrive(executionId, async () => {
      const { run } = await this.runs.load(executionId);
      const claimed =
        isFinished(run.state) || !isMeant(run) ? undefined : await this.parts.store.claim(run, this.owner.id);
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
    return this.arrive(seen.executionId, async () => {
      // Not read before it is claimed: what can't be read is counted too.
      const claimed = await this.parts.store.claim(seen, this.owner.id, reason);
      if (claimed === undefined) return undefined;
      const journal = this.journal(claimed.lease, claimed.run, claimed.run.startedAt ?? Date.now());
      return { whole: claimed, journal: { ...journal, keepsWords: reason === 'end' } };
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
    return this.runs.cancel(executionId, this.owner.id);
  }

  /**
   * What was accepted is written down first, and carried out at once when the run is here. @returns false when
   * somebody else was first
   */
  async settle(executionId: string, call: ToolCall, order: RunOrder): Promise<boolean> {
    const command = await this.runs.send(executionId, call, order);
    if (command === undefined) return false;
    this.obey(command);
    return true;
  }

  /** Carries a command out at once; it is struck off when what came of it is written down. */
  obey({ id, executionId, order }: RunCommand): void {
    const entry = this.parts.live.get(executionId);
    if (entry === undefined) return;
    const { driver, execution } = entry;
    const call = order.kind === 'cancel' ? undefined : execution.calls.get(order.callId);
    if (order.kind !== 'cancel' && (call === undefined || waitId(executionId, call) !== id)) {
      this.strikeOffWhenRecorded(id, driver);
      return;
    }
    driver.obey(order);
    if (!this.obeyed.has(id)) driver.onEnd(() => this.strikeOff(id));
    this.obeyed.add(id);
  }

  beat(): void {
    for (const journal of this.journals()) journal.beat();
  }

  async checkLeases(): Promise<void> {
    await Promise.allSettled(this.journals().map((journal) => journal.confirm()));
  }

  /** Leaves the runs to whoever comes next. */
  async close(): Promise<void> {
    this.isClosed = true;
    const drivers = [...this.parts.live.values()].map(({ driver }) => driver);
    for (const driver of drivers) driver.gotOn();
    await Promise.allSettled(this.journals().map((journal) => journal.durable()));
    for (const driver of drivers)
      driver.abandon(new LeaseLostError('The process is being stopped; the run goes on in its next life.'));
    await this.owner.leave();
  }

  private journals(): readonly RunJournal[] {
    return [...this.parts.live.values()].flatMap(({ driver }) => driver.journal ?? []);
  }

  private async arrive<T>(executionId: string, begin: () => Promise<T>): Promise<T> {
    this.arriving.add(executionId);
    try {
      await this.owner.arrive();
      return await begin();
    } finally {
      this.arriving.delete(executionId);
    }
  }

  private journal(
    lease: RunLease,
    { providerId, title, createdAt }: JournalParts['known'],
    startedAt: number,
  ): JournalParts {
    return {
      known: { providerId, title, createdAt },
      store: this.parts.store,
      lease,
      startedAt,
      patience: this.times.lease,
      isHeld: () => this.owner.isFresh(),
      onLost: () => this.parts.live.delete(lease.executionId),
    };
  }

  /**
   * The wait that the command was for is over. Nobody waits for this: the store may be slow, and signs of life have
   * to go on.
   */
  private strikeOffWhenRecorded(commandId: string, { journal }: RunDriver): void {
    if (journal === undefined || this.leaving.has(commandId)) return;
    this.leaving.add(commandId);
    journal
      .durable()
      .then(() => this.strikeOff(commandId))
      // Whoever has the run by then does it.
      .catch(() => undefined)
      .finally(() => this.leaving.delete(commandId));
  }

  private strikeOff(commandId: string): void {
    this.obeyed.delete(commandId);
    this.parts.store
      .carriedOut(commandId)
      .catch((error: unknown) =>
        this.parts.logger.warn('a command that was carried out could not be struck off', error),
      );
  }
}
