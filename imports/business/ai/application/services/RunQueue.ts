/**
 * Runs that wait for a worker: written down first, then handed to the job queue by their ids, and begun by whoever
 * claims them. Whatever is lost in between is found in the store.
 */
import { createHash, randomUUID } from 'node:crypto';
import type { RunResult } from '../../domain/entities/Run';
import type { IToolExecutor } from '../../domain/interfaces/IToolExecutor';
import type { JobQueue } from '../../domain/interfaces/JobQueue';
import type { Logger } from '../../domain/interfaces/Logger';
import type { RunStore } from '../../domain/interfaces/RunStore';
import type { AgenticLoop, ExecuteOptions } from './AgenticLoop';
import type { RunMetadata } from './runs/durable/DurableRuns';
import { DEFAULT_LIMITS, planRun, toStoredPlan } from './runs/planRun';

export interface RunQueueParts {
  readonly loop: Pick<AgenticLoop, 'begin' | 'on' | 'off'>;
  readonly store: RunStore;
  readonly jobs: JobQueue;
  readonly tools: IToolExecutor;
  /** Milliseconds between two looks for runs that no job stands for; default: ten minutes. */
  readonly sweepIntervalMs?: number;
  /** Default: the console. */
  readonly logger?: Logger;
}

export interface QueuedRun extends RunMetadata {
  /** When it is to be begun, in milliseconds since the epoch; default: as soon as there is a worker. */
  readonly dueAt?: number;
}

const SWEEP_INTERVAL_MS = 600_000;
/** Runs that are looked at together. */
const LOOKED_AT = 10_000;

export class RunQueue {
  private readonly parts: RunQueueParts;
  private readonly logger: Logger;
  private timer: ReturnType<typeof setInterval> | undefined;
  private stopping: Promise<void> = Promise.resolve();
  private release = (): void => undefined;

  constructor(parts: RunQueueParts) {
    this.parts = parts;
    this.logger = parts.logger ?? console;
  }

  /**
   * Resolves when the run is written down: from then on it is done once.
   * @returns the execution id
   * @throws LLMInvalidRequestError for a run that can't be planned; ConflictError when the execution id, or the
   *   user's request id, is taken
   */
  async add(userId: string, options: ExecuteOptions, asked: QueuedRun = {}): Promise<string> {
    const { onPending: _onPending, executionId = randomUUID(), ...wishes } = options;
    const plan = planRun(wishes, this.parts.tools, DEFAULT_LIMITS);
    const request = {
      requestId: executionId,
      argumentsHash: createHash('sha256').update(executionId).digest('hex'),
      source: 'job' as const,
      providerId: plan.options.model,
      title: '',
      ...asked,
      executionId,
      userId,
      createdAt: Date.now(),
      input: plan.options.input,
      plan: toStoredPlan(plan, wishes.tools),
    };
    await this.parts.store.create(request, 'queued', '');
    await this.enqueueJob(executionId, asked.dueAt);
    return executionId;
  }

  /** Works on what is in the queue, and on what was left behind. */
  async start(): Promise<void> {
    this.stopping = new Promise((resolve) => (this.release = resolve));
    await this.parts.jobs.start((executionId) => this.work(executionId));
    await this.requeueOrphans();
    this.timer = setInterval(() => {
      this.requeueOrphans().catch((error: unknown) =>
        this.logger.error('queued runs could not be looked for; it is tried again', error),
      );
    }, this.parts.sweepIntervalMs ?? SWEEP_INTERVAL_MS);
    this.timer.unref();
  }

  /** Begins no more runs. Those under way are the loop's. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.release();
    await this.parts.jobs.stop();
  }

  /** Runs without a job: their process ended before it had made one, or the queue was in its memory. */
  private async requeueOrphans(): Promise<void> {
    for (const { executionId, dueAt } of await this.parts.store.queued(LOOKED_AT))
      await this.parts.jobs.add(executionId, dueAt);
  }

  /** It is in the store: whoever asked for it need not hear that the queue is out of reach. */
  private async enqueueJob(executionId: string, dueAt: number | undefined): Promise<void> {
    try {
      await this.parts.jobs.add(executionId, dueAt);
    } catch (error) {
      this.logger.warn(`the run ${executionId} is begun later, since the job queue can't be reached`, error);
    }
  }

  private async work(executionId: string): Promise<void> {
    const { loop, store } = this.parts;
    // It may have been removed since.
    if ((await store.load(executionId)) === undefined) return;
    const begun = await loop.begin(executionId);
    if (begun !== undefined) await this.untilIdleOrDone(executionId, begun.done);
  }

  /** A run that waits for a person or another service does not keep others from being begun. */
  private async untilIdleOrDone(executionId: string, ended: Promise<RunResult>): Promise<void> {
    const { loop, tools } = this.parts;
    let release = (): void => undefined;
    const waits = new Promise<void>((resolve) => (release = resolve));
    const onWait = (event: { readonly executionId: string }): void => {
      if (event.executionId === executionId) release();
    };
    const onExecuting = (event: { readonly executionId: string; readonly name: string }): void => {
      if (tools.getToolDefinition(event.name)?.external === true) onWait(event);
    };
    loop.on('tool:approval_required', onWait).on('tool:needs_review', onWait).on('tool:executing', onExecuting);
    // A run that ended with an error has ended; its end is told by events and the store.
    const over = ended.then(
      () => undefined,
      () => undefined,
    );
    try {
      await Promise.race([over, waits, this.stopping]);
    } finally {
      loop.off('tool:approval_required', onWait).off('tool:needs_review', onWait).off('tool:executing', onExecuting);
    }
  }
}
