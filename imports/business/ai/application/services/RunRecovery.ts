/**
 * Takes over the runs of owners that are gone, at the start and from then on: one timer for all. An owner is gone
 * when it has left, or when it has given no sign of life for as long as a lease lasts, by this process's own count
 * of time; clocks of different machines are never compared.
 */
import type { RunResult } from '../../domain/entities/Run';
import { isFinished, runOf } from '../../domain/entities/Run';
import type { Logger } from '../../domain/interfaces/Logger';
import type { RunStore } from '../../domain/interfaces/RunStore';
import type { HeldRun, RunLease } from '../../domain/types/RunRecords';
import { DEFAULT_LEASE_TIMES } from './runs/durable/LeaseHeartbeat';
import { isQuarantined } from './runs/durable/recoveryLimit';

/** The agentic loop is one. */
export interface ResumesRuns {
  readonly ownerId: string | undefined;
  /** Runs that are under way in this process. */
  readonly size: number;
  isHere(executionId: string): boolean;
  takeOver(seen: HeldRun): Promise<RunResult | undefined>;
}

export interface RunRecoveryParts {
  readonly loop: ResumesRuns;
  readonly store: RunStore;
  /** Milliseconds; default as in `DEFAULT_LEASE_TIMES`. */
  readonly lease?: number;
  /** Milliseconds between two looks; default a third of the lease. */
  readonly every?: number;
  /** How many runs are taken over with one look; default 100. */
  readonly most?: number;
  readonly logger?: Logger;
}

interface Heartbeat {
  readonly beats: number;
  /** When it was seen first, on this process's own clock. */
  readonly at: number;
}

/** Milliseconds for which other suspects wait while one is tried. */
const QUARANTINE_TRIAL_MS = 60_000;
/** Runs and commands that are looked at. */
const LOOKED_AT = 1_000;

export class RunRecovery {
  private readonly loop: ResumesRuns;
  private readonly store: RunStore;
  private readonly lease: number;
  private readonly every: number;
  private readonly most: number;
  private readonly logger: Logger;
  private signs = new Map<string, Heartbeat>();
  /** The suspect that was taken over last. */
  private tried: { readonly executionId: string; readonly at: number } | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isStopped = true;

  constructor({
    loop,
    store,
    lease = DEFAULT_LEASE_TIMES.lease,
    every = lease / 3,
    most = 100,
    logger = console,
  }: RunRecoveryParts) {
    this.loop = loop;
    this.store = store;
    this.lease = lease;
    this.every = every;
    this.most = most;
    this.logger = logger;
  }

  /** Looks at once, and then again and again. @throws what the store throws at the first look */
  async start(): Promise<void> {
    this.isStopped = false;
    await this.scan();
    this.schedule();
  }

  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
  }

  /** @returns how many runs were taken over */
  async scan(): Promise<number> {
    // In this order: whoever has a run that is in the list gave a sign of life before it had it.
    // However many runs others have who live, and however many are here, those that were left are among these.
    const held = await this.store.held(LOOKED_AT + this.loop.size, this.living());
    const signs = this.read(await this.store.heartbeats());
    const left = held.filter((run) => this.isOrphaned(run, signs));
    const taken = [
      ...left.filter((run) => !isQuarantined(run)).slice(0, this.most),
      ...this.nextQuarantined(held, left),
    ];
    for (const seen of taken) this.takeOver(seen);
    await this.strikeOff(held);
    return taken.length;
  }

  /** The others, as they were at the last look. */
  private living(): readonly string[] {
    const now = performance.now();
    return [...this.signs].flatMap(([owner, { at }]) =>
      owner !== this.loop.ownerId && now - at < this.lease ? [owner] : [],
    );
  }

  private read(beats: ReadonlyMap<string, number>): ReadonlyMap<string, Heartbeat> {
    const at = performance.now();
    const signs = new Map<string, Heartbeat>();
    for (const [owner, count] of beats) {
      const last = this.signs.get(owner);
      signs.set(owner, last?.beats === count ? last : { beats: count, at });
    }
    this.signs = signs;
    return signs;
  }

  private isOrphaned({ executionId, owner }: RunLease, signs: ReadonlyMap<string, Heartbeat>): boolean {
    if (this.loop.isHere(executionId)) return false;
    // What this process has and does not run was given up when the store could not be written to.
    if (owner === this.loop.ownerId || this.store.isExclusive) return true;
    const sign = signs.get(owner);
    return sign === undefined || performance.now() - sign.at >= this.lease;
  }

  /** The one that was tried least often, unless another is being tried here: one that gets on is none any more. */
  private nextQuarantined(held: readonly HeldRun[], left: readonly HeldRun[]): readonly HeldRun[] {
    const { tried } = this;
    const isTrying =
      tried !== undefined &&
      performance.now() - tried.at < QUARANTINE_TRIAL_MS &&
      held.some(
        (run) => run.executionId === tried.executionId && isQuarantined(run) && this.loop.isHere(run.executionId),
      );
    if (isTrying) return [];
    const [next] = left.filter(isQuarantined).toSorted((a, b) => a.takeovers - b.takeovers);
    this.tried = next === undefined ? undefined : { executionId: next.executionId, at: performance.now() };
    return next === undefined ? [] : [next];
  }

  private takeOver(seen: HeldRun): void {
    this.loop.takeOver(seen).catch((error: unknown) => {
      // A run that ends with an error has told so itself.
      if (runOf(error) === undefined) this.logger.error(`the run ${seen.executionId} could not be taken over`, error);
    });
  }

  /** Commands to runs that had ended when they came. */
  private async strikeOff(held: readonly RunLease[]): Promise<void> {
    const known = new Set(held.map(({ executionId }) => executionId));
    for (const { id, executionId } of await this.store.commands(LOOKED_AT)) {
      if (known.has(executionId)) continue;
      const whole = await this.store.load(executionId);
      if (whole === undefined || isFinished(whole.run.state)) await this.store.removeCommand(id);
    }
  }

  private schedule(): void {
    if (this.isStopped) return;
    this.timer = setTimeout(() => {
      this.scan()
        .catch((error: unknown) =>
          this.logger.error('runs of lost processes could not be looked for; it is tried again', error),
        )
        .finally(() => this.schedule());
    }, this.every);
    this.timer.unref();
  }
}
