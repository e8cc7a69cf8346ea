/**
 * Recovers orphaned runs, and other work of the processes that own them: scans the store at the start and periodically,
 * and takes over what belongs to owners that are gone. An owner is gone when it has removed itself, or when its
 * heartbeat count has not changed for as long as a lease lasts, measured by this process's monotonic clock. Clocks of
 * different machines are never compared. An outage of the store, in which nobody can read or write heartbeats, counts
 * as a fifth of a lease at most.
 */
import { consoleLogger } from '../../../../log/consoleLogger';
import type { RunResult } from '../../domain/entities/Run';
import { isFinished, runOf, UNOWNED } from '../../domain/entities/Run';
import type { Logger } from '../../domain/interfaces/Logger';
import type { RunStore } from '../../domain/interfaces/RunStore';
import type { LeasedRun, RunLease } from '../../domain/types/RunRecords';
import { DEFAULT_LEASE_TIMES } from './runs/durable/LeaseHeartbeat';
import type { RunSlots } from './queue/RunSlots';
import type { RunClaims } from './runs/durable/RunClaims';
import type { LocalRuns } from './runs/LocalRuns';
import { LeaseLostError } from '../../domain/errors/LeaseLostError';
import { loneDeaths } from './runs/durable/recoveryLimit';
import { planRecovery } from './runs/durable/recoveryPlan';
import type { RunRecoveryStep } from './runs/durable/recoveryPlan';

/** The part of `AgenticLoop` that the recovery uses. */
export interface RecoveringLoop {
  readonly claims: Pick<
    RunClaims,
    'ownerId' | 'losses' | 'toolsLackedBy' | 'toolWaits' | 'recover' | 'recoverAll' | 'leave'
  >;
  readonly local: Pick<LocalRuns, 'size' | 'has' | 'isWorking' | 'isSuspected'>;
  readonly leasedWork: { readonly ownerId: string };
  cancel(executionId: string): Promise<unknown>;
}

/** Work other than a run that a process does under the lease of its runs. */
export interface LeasedWork {
  /** The `workOwnerId` of the process that does it; '' if nobody does. */
  readonly owner: string;
  /** Takes the work over, unless another process was faster. */
  recover(): Promise<void>;
}

export interface LeasedWorkSource {
  /** Unfinished work that this process does not do, oldest first. @param except owners whose work is left out */
  leased(limit: number, except: readonly string[]): Promise<readonly LeasedWork[]>;
}

export interface RunRecoveryOptions {
  readonly loop: RecoveringLoop;
  readonly store: RunStore;
  /** Milliseconds without a heartbeat after which an owner is gone; default 15,000. */
  readonly lease?: number | undefined;
  /** Milliseconds between two scans; default: a third of the lease. */
  readonly scanIntervalMs?: number;
  /** Milliseconds between two looks for owners that have left their runs; default: a fifteenth of the lease. */
  readonly watchIntervalMs?: number;
  /** What queued runs that are taken over count in. Default: any number of them is. */
  readonly slots?: Pick<RunSlots, 'room' | 'reserve' | 'hold'>;
  /**
   * How many runs that are not suspects one scan takes over; default 100. The next scan follows as soon as they wait
   * for others or have ended, so that a restart with many runs that wait is short, and not all others work at once.
   */
  readonly maxPerScan?: number;
  /** Default: the console. */
  readonly logger?: Logger;
}

interface Heartbeat {
  readonly count: number;
  /** Milliseconds for which this process has watched that count and not seen it change. */
  readonly silentMs: number;
}

type ReadLeases = (limit: number) => Promise<readonly LeasedRun[]>;

interface Orphans {
  /** The runs that were read. */
  readonly leased: readonly LeasedRun[];
  readonly orphaned: readonly LeasedRun[];
  readonly heartbeats: ReadonlyMap<string, Heartbeat>;
}

interface Trial {
  readonly executionIds: ReadonlySet<string>;
  /** The ids of runs that have made no progress yet, as far as this process has seen. */
  readonly suspected: Set<string>;
  /** By `performance.now()`, when it ends although not all of the runs have made progress. */
  readonly endsAt: number;
}

/**
 * The part of a lease that counts as watched at most between two readings of the heartbeats. In an outage of the store,
 * the next one comes late, and the owners of runs could write no heartbeat either.
 */
const MAX_WATCHED = 0.2;
/** How long suspects that have made no progress are observed before the next ones are recovered. */
const TRIAL_MS = 120_000;
/** Longer: if the process dies with the next one, a suspect that was tried alone is blamed for it. */
const LONE_TRIAL_MS = 600_000;
/** Milliseconds between two looks at whether the runs that were taken over last are at rest, or have made progress. */
const REST_CHECK_MS = 10;
/** Milliseconds between two comparisons of the runs that the store says are this process's with those that are. */
const AUDIT_MS = 60_000;
/** How many runs of others, and how many commands, one scan reads. */
const SCAN_LIMIT = 1_000;

export class RunRecovery {
  private readonly loop: RecoveringLoop;
  private readonly store: RunStore;
  private readonly leaseMs: number;
  private readonly scanIntervalMs: number;
  private readonly watchIntervalMs: number;
  private readonly maxPerScan: number;
  private readonly slots: RunRecoveryOptions['slots'];
  private readonly logger: Logger;
  /** By owner, as of the last scan. */
  private heartbeats: ReadonlyMap<string, Heartbeat> = new Map();
  /** By `performance.now()`, when they were read last. */
  private readAt = -Infinity;
  /** The suspects that were recovered last. */
  private trial: Trial | undefined;
  private readonly sources: LeasedWorkSource[] = [];
  private readonly lossListeners: (() => void)[] = [];
  /** An owner was lost since the listeners were called. */
  private hasLostOwner = false;
  private readonly startedAt = performance.now();
  private auditedAt = performance.now();
  /** Runs of this process that the last scan found it does not work on. */
  private forgotten: ReadonlySet<string> = new Set();
  /** The losses up to which no run of this process was orphaned. */
  private settledLosses = 0;
  /** The runs that the last scan took over, if there may be more. */
  private batch: readonly string[] = [];
  /** The size of the last trial, if all of its suspects have made progress. */
  private cleared = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private watchTimer: ReturnType<typeof setTimeout> | undefined;
  /** Settles when all scans so far have ended. */
  private scans: Promise<unknown> = Promise.resolve();
  private isStopped = true;

  constructor({
    loop,
    store,
    lease = DEFAULT_LEASE_TIMES.lease,
    scanIntervalMs = lease / 3,
    watchIntervalMs = lease / 15,
    maxPerScan = 100,
    slots,
    logger = consoleLogger,
  }: RunRecoveryOptions) {
    this.loop = loop;
    this.store = store;
    this.leaseMs = lease;
    this.scanIntervalMs = scanIntervalMs;
    this.watchIntervalMs = watchIntervalMs;
    this.maxPerScan = maxPerScan;
    this.slots = slots;
    this.logger = logger;
  }

  /** From the next scan on, the work of this source is recovered, too. */
  add(source: LeasedWorkSource): void {
    this.sources.push(source);
  }

  /** Calls back whenever an owner has left or was lost, or has left some of what it had. */
  onOwnerLost(listener: () => void): void {
    this.lossListeners.push(listener);
  }

  /** Whether it scans, now and from now on. */
  get isRunning(): boolean {
    return !this.isStopped;
  }

  /** Scans at once, and then periodically. @throws what the store throws at the first scan */
  async start(): Promise<void> {
    this.isStopped = false;
    await this.scan();
    this.schedule();
    if (!this.store.isExclusive) this.scheduleWatch();
  }

  /** Stops scanning. Recovered runs continue. */
  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
    clearTimeout(this.watchTimer);
  }

  /**
   * Takes over orphaned runs and other work, without waiting for their results, and deletes commands for runs that have
   * ended.
   * @returns how many runs are being taken over
   * @throws what the store throws
   */
  scan(): Promise<number> {
    const scan = this.scans.then(() => this.scanOnce());
    this.scans = scan.catch(() => undefined);
    return scan;
  }

  private async scanOnce(): Promise<number> {
    const { losses, ownerId } = this.loop.claims;
    const mayHaveLost = ownerId === undefined || losses !== this.settledLosses || this.trial !== undefined;
    const isOwnRead = mayHaveLost || this.isAuditDue();
    const { leased, orphaned: found, heartbeats, work } = await this.read(isOwnRead);
    const orphaned = mayHaveLost ? found : this.withoutNewlyForgotten(found);
    const left = orphaned.filter((run) => this.loop.claims.toolsLackedBy(run).length > 0);
    for (const run of left) await this.loop.claims.leave(run);
    const continuable = left.length === 0 ? orphaned : orphaned.filter((run) => !left.includes(run));
    const steps = planRecovery(continuable, {
      ownerId: this.loop.claims.ownerId,
      isTrying: this.isTrying(leased),
      cleared: this.cleared,
      uptime: (performance.now() - this.startedAt) / this.scanIntervalMs,
      limit: this.maxPerScan,
      room: this.slots?.room ?? Infinity,
    });
    const recovered = steps.filter(({ kind }) => kind === 'recover');
    this.begin(steps.filter(({ kind }) => kind === 'try'));
    this.recoverAll(steps.filter(({ kind }) => kind !== 'park'));
    for (const step of steps)
      if (step.kind === 'park') this.follow(step.lease, this.loop.claims.recover(step.lease, step));
    this.reserveRoom(continuable, steps);
    // After the runs, which the work may wait for.
    for (const each of work) if (this.isGone(each.owner, heartbeats)) this.recoverWork(each);
    if (isOwnRead && !orphaned.some(({ owner }) => owner === ownerId)) this.settledLosses = losses;
    this.batch = recovered.length < this.maxPerScan ? [] : recovered.map(({ lease }) => lease.executionId);
    if (this.hasLostOwner) for (const listener of this.lossListeners) listener();
    this.hasLostOwner = false;
    await this.deleteObsoleteCommands(left.length === 0 ? leased : leased.filter((run) => !left.includes(run)));
    await this.parkCancelled(continuable, steps);
    return steps.length;
  }

  /** Whether the runs of this process are to be compared with those that it works on, though it has lost none. */
  private isAuditDue(): boolean {
    const now = performance.now();
    if (now - this.auditedAt < AUDIT_MS && this.forgotten.size === 0) return false;
    this.auditedAt = now;
    return true;
  }

  /**
   * What the store says is this process's, and it does not work on, would be nobody's for ever. A run that two scans
   * find so has not just ended.
   */
  private withoutNewlyForgotten(orphaned: readonly LeasedRun[]): readonly LeasedRun[] {
    const { ownerId } = this.loop.claims;
    const before = this.forgotten;
    const own = orphaned.flatMap(({ executionId, owner }) => (owner === ownerId ? [executionId] : []));
    this.forgotten = new Set(own.filter((executionId) => !before.has(executionId)));
    for (const executionId of own)
      if (before.has(executionId))
        this.logger.error(
          `The run "${executionId}" was to be executed by this process, which did not. It is taken over now.`,
        );
    return orphaned.filter(({ executionId }) => !this.forgotten.has(executionId));
  }

  /**
   * The runs are read before the heartbeats: an owner of a run in the list sent its first heartbeat before it claimed
   * the run. Runs of live owners are left out, and so are those of this process unless one may be orphaned, for which
   * the limit has room: orphans are always among the runs read.
   */
  private async read(isOwnRead: boolean): Promise<Orphans & { readonly work: readonly LeasedWork[] }> {
    const { ownerId, toolWaits } = this.loop.claims;
    for (;;) {
      const live = this.liveOwners();
      const work = await Promise.all(this.sources.map((source) => source.leased(SCAN_LIMIT, live)));
      const orphans =
        isOwnRead || ownerId === undefined
          ? await this.findOrphans(
              (limit) => this.store.leased(limit, live, toolWaits),
              SCAN_LIMIT + this.loop.local.size,
            )
          : await this.findNext((limit) => this.store.leased(limit, [...live, ownerId], toolWaits));
      const stillLive = new Set(this.liveOwners());
      // Otherwise, the runs of an owner that has just left were left out.
      if (live.every((owner) => stillLive.has(owner))) return { ...orphans, work: work.flat() };
    }
  }

  /** Reads no more than one scan takes over, if that tells what it has to. */
  private async findNext(read: ReadLeases): Promise<Orphans> {
    const limit = Math.min(this.maxPerScan + 1, SCAN_LIMIT);
    const found = await this.findOrphans(read, limit);
    const { leased, orphaned } = found;
    // The rest may contain others, as long as no more of these are free of suspicion than this scan takes over.
    const areSome = leased.length < limit || orphaned.filter(({ takeovers }) => takeovers === 0).length === limit;
    return areSome || limit === SCAN_LIMIT ? found : this.findOrphans(read, SCAN_LIMIT);
  }

  private async findOrphans(read: ReadLeases, limit: number): Promise<Orphans> {
    const leased = await read(limit);
    const heartbeats = this.updateHeartbeats(await this.store.heartbeats());
    return { leased, heartbeats, orphaned: leased.filter((run) => this.isOrphaned(run, heartbeats)) };
  }

  /** Other owners that were alive at the last scan. */
  private liveOwners(): readonly string[] {
    return [...this.heartbeats].flatMap(([owner, { silentMs }]) =>
      !this.isOwn(owner) && owner !== UNOWNED && silentMs < this.leaseMs ? [owner] : [],
    );
  }

  private updateHeartbeats(counts: ReadonlyMap<string, number>): ReadonlyMap<string, Heartbeat> {
    const now = performance.now();
    const watchedMs = Math.min(now - this.readAt, this.leaseMs * MAX_WATCHED);
    const heartbeats = new Map<string, Heartbeat>();
    for (const [owner, count] of counts) {
      const last = this.heartbeats.get(owner);
      heartbeats.set(owner, { count, silentMs: last?.count === count ? last.silentMs + watchedMs : 0 });
    }
    for (const [owner, { silentMs }] of this.heartbeats)
      if (silentMs < this.leaseMs && (heartbeats.get(owner)?.silentMs ?? Infinity) >= this.leaseMs)
        this.hasLostOwner = true;
    this.heartbeats = heartbeats;
    this.readAt = now;
    return heartbeats;
  }

  private isOrphaned({ executionId, owner }: RunLease, heartbeats: ReadonlyMap<string, Heartbeat>): boolean {
    return !this.loop.local.has(executionId) && this.isGone(owner, heartbeats);
  }

  private isOwn(owner: string): boolean {
    return owner === this.loop.claims.ownerId || owner === this.loop.leasedWork.ownerId;
  }

  /** Whether the process does not do what it owns. */
  private isGone(owner: string, heartbeats: ReadonlyMap<string, Heartbeat>): boolean {
    // This process gave it up when the store failed; or no other process exists.
    if (this.isOwn(owner) || owner === UNOWNED || this.store.isExclusive) return true;
    const heartbeat = heartbeats.get(owner);
    return heartbeat === undefined || heartbeat.silentMs >= this.leaseMs;
  }

  private isTrying(leased: readonly LeasedRun[]): boolean {
    const { trial } = this;
    if (trial === undefined) return false;
    // A run that made progress, ended or was lost is no longer on trial here.
    const isUnderWay = leased.some(
      ({ executionId, takeovers }) =>
        takeovers > 0 && trial.executionIds.has(executionId) && this.loop.local.has(executionId),
    );
    if (isUnderWay && performance.now() < trial.endsAt) return true;
    this.cleared = isUnderWay ? 0 : trial.executionIds.size;
    this.trial = undefined;
    return false;
  }

  private begin(steps: readonly RunRecoveryStep[]): void {
    if (steps.length === 0) return;
    const executionIds = steps.map(({ lease }) => lease.executionId);
    this.trial = {
      executionIds: new Set(executionIds),
      suspected: new Set(executionIds),
      endsAt: performance.now() + (steps.length === 1 ? LONE_TRIAL_MS : TRIAL_MS),
    };
  }

  private recoverAll(steps: readonly RunRecoveryStep[]): void {
    if (steps.length === 0) return;
    const recovered = this.loop.claims.recoverAll(steps);
    for (const [index, { lease }] of steps.entries()) {
      const done = recovered[index];
      if (done !== undefined) this.follow(lease, done);
    }
  }

  private follow(lease: LeasedRun, done: Promise<RunResult | undefined>): void {
    if (lease.isQueued === true) void this.slots?.hold(lease.executionId, done);
    done.catch((error: unknown) => {
      // An error with a report ended the run, and was reported as an event. A process that stops leaves its
      // runs, and one that has lost a lease has lost it to a process that continues the run.
      if (runOf(error) === undefined && !this.isStopped && !(error instanceof LeaseLostError))
        this.logger.error(`Run "${lease.executionId}" could not be taken over.`, error);
    });
  }

  /** Queued runs for which there was no room are taken over as soon as there is. */
  private reserveRoom(orphaned: readonly LeasedRun[], steps: readonly RunRecoveryStep[]): void {
    const taken = new Set(steps.map(({ lease }) => lease.executionId));
    const left = orphaned.filter(({ executionId, isQueued }) => isQueued === true && !taken.has(executionId));
    let isNoticed = false;
    // The others were left for other reasons.
    const count = this.slots?.room === 0 && !this.isStopped ? left.length : 0;
    this.slots?.reserve(count, () => {
      if (isNoticed || this.isStopped) return;
      isNoticed = true;
      this.scan().catch((error: unknown) =>
        this.logger.error('The scan for orphaned runs failed and will be retried.', error),
      );
    });
  }

  private recoverWork(work: LeasedWork): void {
    work.recover().catch((error: unknown) => {
      this.logger.error('The work of a lost process could not be taken over. This will be retried.', error);
    });
  }

  /** Deletes commands that arrived after their run had ended, and cancels runs that nobody executes since. */
  private async deleteObsoleteCommands(leased: readonly RunLease[]): Promise<void> {
    const unfinished = new Set(leased.map(({ executionId }) => executionId));
    for (const { id, executionId, action } of await this.store.commands(SCAN_LIMIT)) {
      if (unfinished.has(executionId) || this.loop.local.has(executionId)) continue;
      const head = await this.store.head(executionId);
      const isCancelled = (head?.parked ?? head?.awaitedTools) !== undefined && action.kind === 'cancel';
      if (isCancelled) await this.loop.cancel(executionId);
      if (isCancelled || head === undefined || isFinished(head.state)) await this.store.removeCommand(id);
    }
  }

  /** Parks suspects that nobody tries for now, and somebody cancels: the next scan ends them. */
  private async parkCancelled(orphaned: readonly LeasedRun[], steps: readonly RunRecoveryStep[]): Promise<void> {
    const taken = new Set(steps.map(({ lease }) => lease));
    const waiting = orphaned.filter((lease) => loneDeaths(lease) > 0 && !taken.has(lease));
    if (waiting.length === 0) return;
    const commands = await this.store.commands(SCAN_LIMIT);
    const cancelled = new Set(
      commands.flatMap(({ executionId, action }) => (action.kind === 'cancel' ? executionId : [])),
    );
    for (const lease of waiting)
      if (cancelled.has(lease.executionId))
        await this.loop.claims.recover(lease, { kind: 'park', lease, takeovers: lease.takeovers });
  }

  /** Scans as soon as an owner has left, since it has left its runs to others, or a run was left by itself. */
  private async watch(): Promise<void> {
    const present = await this.store.heartbeats();
    const isLeft = present.get(UNOWNED) !== this.heartbeats.get(UNOWNED)?.count;
    const hasOneLeft = isLeft || [...this.heartbeats.keys()].some((owner) => !present.has(owner));
    // Perhaps queued runs, which have no owner.
    if (isLeft) this.hasLostOwner = true;
    // Owners that have come since the last scan are remembered, so that the next look notices if they have left.
    this.updateHeartbeats(present);
    if (hasOneLeft) await this.scan();
  }

  private scheduleWatch(): void {
    if (this.isStopped) return;
    this.watchTimer = setTimeout(() => {
      this.watch()
        .catch((error: unknown) => this.logger.error('Could not look for lost processes; retrying.', error))
        .finally(() => this.scheduleWatch());
    }, this.watchIntervalMs);
    this.watchTimer.unref();
  }

  /** @param waited milliseconds since the last scan */
  private schedule(waited = 0): void {
    if (this.isStopped) return;
    const remaining = this.scanIntervalMs - waited;
    const delay = this.isWatchingRuns ? Math.min(REST_CHECK_MS, remaining) : remaining;
    this.timer = setTimeout(() => {
      if (delay < remaining && this.areRunsUnderWay()) {
        this.schedule(waited + delay);
        return;
      }
      this.batch = [];
      this.scan()
        .catch((error: unknown) => this.logger.error('The scan for orphaned runs failed and will be retried.', error))
        .finally(() => this.schedule());
    }, delay);
    this.timer.unref();
  }

  /** Whether the next scan follows as soon as the runs that were taken over last let it. */
  private get isWatchingRuns(): boolean {
    return this.batch.length > 0 || (this.trial?.suspected.size ?? 0) > 0;
  }

  private areRunsUnderWay(): boolean {
    const { local } = this.loop;
    const suspected = this.trial?.suspected ?? new Set();
    for (const executionId of suspected) if (!local.isSuspected(executionId)) suspected.delete(executionId);
    return suspected.size > 0 || this.batch.some((executionId) => local.isWorking(executionId));
  }
}
