/** Claims stored runs for this process, whose owners are gone or that have none, and continues them here. */
import type { RunResult } from '../../../../domain/entities/Run';
import type { ToolWaits } from '../../../../domain/interfaces/RunStore';
import type { LeasedRun, ToolNeeds } from '../../../../domain/types/RunRecords';
import type { WorkInProgress } from '../../tools/WorkInProgress';
import type { RunRegistry } from '../RunRegistry';
import type { ClaimedRun, DurableRuns, RunEnding } from './DurableRuns';
import { planRecoveryOf } from './recoveryPlan';
import type { RunRecoveryStep } from './recoveryPlan';
import { unknownRunError } from './RemoteRuns';

export interface RunClaimsOptions {
  /** Undefined: runs are not stored, so that there is nothing to claim. */
  readonly durable: DurableRuns | undefined;
  readonly registry: RunRegistry;
  readonly work: WorkInProgress;
  readonly launch: (claimed: ClaimedRun) => Promise<RunResult>;
  readonly ending: (reason: string) => RunEnding;
  /** @throws LLMOverloadedError once the process starts no runs any more */
  readonly assertNotDraining: () => void;
}

/** A run that was claimed, and goes on. */
export interface ClaimedStart {
  readonly executionId: string;
  readonly done: Promise<RunResult>;
}

export class RunClaims {
  private readonly options: RunClaimsOptions;

  constructor(options: RunClaimsOptions) {
    this.options = options;
  }

  /**
   * Takes over and continues a run whose owner is gone, or parks a run that kills its owners.
   * @param lease as read from the store
   * @param step default: as if no other run were orphaned
   * @returns undefined when the run was parked, another process has claimed it since, or it has ended
   * @throws as `resume` does
   */
  async recover(lease: LeasedRun, step = planRecoveryOf(lease, this.ownerId)): Promise<RunResult | undefined> {
    const { executionId } = lease;
    const durable = this.durableOf(executionId);
    if (step === undefined || this.options.work.isDraining) return undefined;
    const { kind, takeovers } = step;
    if (kind === 'park') {
      await durable.park(lease);
      return undefined;
    }
    const launched = await durable.takeOver(lease, 'orphaned', { takeovers }, this.options.launch);
    return launched === undefined ? undefined : durable.resultOf(executionId, launched.done);
  }

  /**
   * Takes over and continues many runs whose owners are gone, and that are not to be parked.
   * @returns for each, in their order, what `recover` does
   */
  recoverAll(steps: readonly RunRecoveryStep[]): readonly Promise<RunResult | undefined>[] {
    const { durable } = this.options;
    if (durable === undefined || this.options.work.isDraining) return steps.map(() => Promise.resolve(undefined));
    const claims = steps.map(({ lease, takeovers }) => ({ lease, suspicion: { takeovers } }));
    return durable.takeOverAll(claims, this.options.launch);
  }

  /** Names of the tools for which the run waits, so that this process leaves it to others. */
  toolsLackedBy(run: ToolNeeds): readonly string[] {
    return this.options.durable?.tools.lackedBy(run) ?? [];
  }

  /** The runs that wait for tools which this process lacks. */
  get toolWaits(): ToolWaits | undefined {
    return this.options.durable?.tools.waits;
  }

  /** Leaves a run whose owner is gone to a process that has its tools. @throws what the store throws */
  async leave(lease: LeasedRun): Promise<void> {
    await this.options.durable?.leave(lease);
  }

  /**
   * Starts a queued run that no process has claimed yet.
   * @param fence as read from the store; a run that changed since is not started. Default: not compared
   * @returns undefined when it has, or had, an owner: that process, or the recovery, executes it
   * @throws LLMInvalidRequestError for an unknown run
   */
  async startQueued(executionId: string, fence?: number): Promise<ClaimedStart | undefined> {
    const durable = this.durableOf(executionId);
    this.options.assertNotDraining();
    const launched = await durable.claim(
      executionId,
      this.options.launch,
      (run) => run.state === 'queued' && run.owner === '' && (fence === undefined || run.fence === fence),
    );
    return launched === undefined ? undefined : { executionId, done: durable.resultOf(executionId, launched.done) };
  }

  /**
   * Ends a parked run as cancelled, and the runs that its calls have started.
   * @param reason the message of its error
   * @returns false if it is not parked any more, or this process drains
   * @throws LLMInvalidRequestError for an unknown run; what the store throws, and then it stays parked
   */
  async endParked(executionId: string, reason: string): Promise<boolean> {
    const durable = this.durableOf(executionId);
    if (this.options.work.isDraining) return false;
    const isEnded = await durable.endParked(executionId, this.options.ending(reason));
    if (isEnded) durable.remote.ended(executionId);
    return isEnded;
  }

  /** This process's id as an owner of stored runs. Undefined without a run store. */
  get ownerId(): string | undefined {
    return this.options.durable?.ownerId;
  }

  /** How many stored runs of which this process may still be the owner it does not execute, or no longer. */
  get losses(): number {
    return this.options.durable?.losses ?? 0;
  }

  /** @throws LLMInvalidRequestError without a run store, where only live runs are known */
  private durableOf(executionId: string): DurableRuns {
    const { durable } = this.options;
    if (durable === undefined) throw unknownRunError(executionId);
    return durable;
  }
}
