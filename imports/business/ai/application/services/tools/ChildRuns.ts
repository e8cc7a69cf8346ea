/**
 * Runs that tool calls start. A child's id follows from its call, so that whichever process continues the parent finds
 * the child that an earlier one started. A child lives on its own: it is recovered like any run, and only its end
 * reaches the parent.
 */
import {
  ConflictError,
  isLLMError,
  isStoreOutage,
  LLMOverloadedError,
  ToolError,
} from '../../../domain/errors/LLMErrors';
import { addAmounts } from '../../../domain/entities/BudgetAccount';
import type { RunResult } from '../../../domain/entities/Run';
import type { NormalizedOptions } from '../../../domain/types/LLMTypes';
import type { Budget } from '../../../domain/types/RunLimits';
import type { RunFamily } from '../../../domain/types/RunRecords';
import type { ChildRun } from '../../../domain/interfaces/RunStore';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import { childId, MAX_RUN_DEPTH } from '../shared/childId';
import { throughOutages } from '../shared/throughOutages';
import type { RunOptions } from '../../../domain/types/RunOptions';

export type ChildOptions = RunOptions & { readonly executionId: string };

export interface ChildRunPorts {
  /** @throws ConflictError if the run exists; LLMOverloadedError if the process shuts down */
  start(parent: ParentRun, options: ChildOptions, family: RunFamily): Promise<unknown>;
  exists(executionId: string): Promise<boolean>;
  hasEnded(executionId: string): Promise<boolean>;
  waitForResult(executionId: string): Promise<RunResult>;
  cancel(executionId: string): Promise<unknown>;
  childrenOf(executionId: string): Promise<readonly ChildRun[]>;
}

/** A run whose call starts another one. */
export interface ParentRun {
  readonly executionId: string;
  readonly userId: string;
  /** How many runs there are above it. */
  readonly depth: number;
  /** Absent: whoever requested it has started it. */
  readonly isQueued?: true | undefined;
  readonly globalPriority?: number | undefined;
  readonly options: Pick<NormalizedOptions, 'model' | 'providerId' | 'origin'>;
  /** Whether it streams; so do the runs below it, unless they are told otherwise. */
  readonly stream: boolean;
  readonly budget: Budget | undefined;
  /** What its own model calls have spent so far. */
  spent(): Required<Budget>;
}

/** What a call does while its run is under way. */
export interface ChildCall {
  readonly id: string;
  /** What the tool's function returns, checked when the run is planned. */
  optionsOf(): unknown;
  /** False once the call has settled. */
  isWanted(): boolean;
  /** Whether the parent goes on in another process. */
  isHandedOver(): boolean;
  /** @throws LeaseLostError if the parent goes on in another process */
  verifyLease(): Promise<void>;
}

export class ChildRuns {
  private readonly ports: ChildRunPorts;
  /** Runs that are being started, by their parents. */
  private readonly starting = new Map<string, Set<Promise<void>>>();

  constructor(ports: ChildRunPorts) {
    this.ports = ports;
  }

  /**
   * Starts the run of a call, unless an earlier process did, and waits for its end.
   * @returns undefined if the call has settled meanwhile, or this process shuts down
   * @throws ToolError if the run failed, or would be too deep
   */
  async run(parent: ParentRun, call: ChildCall): Promise<RunResult | undefined> {
    const executionId = childId(parent.executionId, call.id);
    const isWanted = (): boolean => call.isWanted();
    try {
      const isKnown = await throughOutages(() => this.ports.exists(executionId), isWanted);
      if (!isKnown && !(await this.begin(parent, executionId, call))) return undefined;
      return await throughOutages(() => this.ports.waitForResult(executionId), isWanted);
    } catch (error) {
      // Another process continues the parent, and finds the child.
      if (!isWanted() || error instanceof LLMOverloadedError) return undefined;
      if (!isLLMError(error) || isStoreOutage(error)) throw error;
      throw new ToolError('threw', `The run "${executionId}" has not completed: ${error.message}`, { cause: error });
    }
  }

  /** Cancels the run of a call. Has no effect on one that was not started, or has ended. */
  async cancel(parentId: string, callId: string): Promise<void> {
    await this.settleStarts(parentId);
    const executionId = childId(parentId, callId);
    if (await this.ports.exists(executionId)) await this.ports.cancel(executionId);
  }

  /** Cancels the runs that calls of this run have started. */
  async cancelAll(parentId: string): Promise<void> {
    await this.settleStarts(parentId);
    for (const { executionId, isFinished } of await this.ports.childrenOf(parentId))
      if (!isFinished) await this.ports.cancel(executionId);
  }

  /** What the runs below this one have spent so far. */
  async spentBelow(parentId: string): Promise<Required<Budget>> {
    let sum: Required<Budget> = { calls: 0, tokens: 0, money: 0 };
    for (const { executionId, spent } of await this.ports.childrenOf(parentId))
      sum = [spent, await this.spentBelow(executionId)].reduce(addAmounts, sum);
    return sum;
  }

  /** @returns false if the call has settled meanwhile */
  private async begin(parent: ParentRun, executionId: string, call: ChildCall): Promise<boolean> {
    if (parent.depth >= MAX_RUN_DEPTH)
      throw new ToolError('rejected', `Runs may start others ${MAX_RUN_DEPTH} deep, and this one is at that depth.`);
    const options = (await call.optionsOf()) as RunOptions;
    const budget = await this.budgetLeft(parent, options.budget);
    // A process that has lost the parent starts no child, however long the tool's function took.
    await call.verifyLease();
    if (!call.isWanted()) return false;
    const started = throughOutages(
      () => this.start(parent, call.id, budget === undefined ? options : { ...options, budget }),
      () => call.isWanted(),
    );
    await this.tracked(parent.executionId, started);
    if (call.isWanted()) return true;
    // Unless the parent goes on elsewhere.
    if (!call.isHandedOver() || (await this.ports.hasEnded(parent.executionId))) await this.ports.cancel(executionId);
    return false;
  }

  /** Nothing that a parent's end does may miss a child that is just being recorded. */
  private async tracked(parentId: string, started: Promise<void>): Promise<void> {
    const starts = this.starting.get(parentId) ?? new Set();
    this.starting.set(parentId, starts.add(started));
    try {
      await started;
    } finally {
      starts.delete(started);
      if (starts.size === 0) this.starting.delete(parentId);
    }
  }

  private async settleStarts(parentId: string): Promise<void> {
    await Promise.allSettled([...(this.starting.get(parentId) ?? [])]);
  }

  private async start(parent: ParentRun, callId: string, options: RunOptions): Promise<void> {
    const executionId = childId(parent.executionId, callId);
    const { model, providerId, origin } = parent.options;
    const isLike = options.model === undefined || options.model === model;
    const like = {
      model,
      ...(parent.stream ? { stream: true } : {}),
      ...(providerId === undefined || !isLike ? {} : { providerId }),
    };
    try {
      await this.ports.start(
        parent,
        { ...like, ...options, ...omitUndefined({ origin }), executionId },
        { parentExecutionId: parent.executionId, parentCallId: callId, depth: parent.depth + 1 },
      );
    } catch (error) {
      // A write that seemed to fail, or another process, has started it.
      if (!(error instanceof ConflictError)) throw error;
    }
  }

  /** @param own of the child @returns no more than the parent's budget leaves */
  private async budgetLeft(parent: ParentRun, own: Budget | undefined): Promise<Budget | undefined> {
    const { executionId, budget } = parent;
    if (budget === undefined) return own;
    const gone = addAmounts(parent.spent(), await this.spentBelow(executionId));
    const left: { calls?: number; tokens?: number; money?: number } = { ...own };
    for (const unit of ['calls', 'tokens', 'money'] as const) {
      const limit = budget[unit];
      if (limit !== undefined) left[unit] = Math.max(0, Math.min(limit - gone[unit], own?.[unit] ?? Infinity));
    }
    return left;
  }
}
