/**
 * Jobs of the server's own code. Each is a run started now, at a time or on a schedule, and retried if it fails.
 * A handler learns of its end. Handlers are found by the name of the job, so that any process that defines it can
 * call them, whichever process enqueued the job, and whether or not that one still exists.
 */
import { createHash, randomUUID } from 'node:crypto';
import type { RunResult } from '../../ai/domain/entities/Run';
import { isLLMError, isStoreOutage, LLMAbortedError, LLMInvalidRequestError } from '../../ai/domain/errors/LLMErrors';
import type { ErrorCode, LLMError } from '../../ai/domain/errors/LLMErrors';
import { LeaseLostError } from '../../ai/domain/errors/LeaseLostError';
import type { Schedule, ScheduledOccasion } from '../../ai/domain/interfaces/JobQueue';
import type { Logger } from '../../ai/domain/interfaces/Logger';
import { omitUndefined } from '../../ai/domain/util/omitUndefined';
import type { AgenticLoop } from '../../ai/application/services/AgenticLoop';
import type { LeasedWork, LeasedWorkSource } from '../../ai/application/services/RunRecovery';
import { runDetached } from '../../ai/application/services/shared/runDetached';
import type { AgenticRequest } from '../../ai/application/usecases/AgenticExecutionUseCase';
import type { QueueOptions, QueueRunUseCase } from '../../ai/application/usecases/QueueRunUseCase';
import type { ServerJob } from '../domain/ServerJob';
import type { ServerJobStore } from '../domain/ServerJobStore';

/** A run as `ai.runs.start` takes it, of the user who is charged for it. */
export interface JobRun extends Omit<AgenticRequest, 'requestId' | 'tools'>, QueueOptions {
  readonly userId: string;
  /** Names of the server's tools. Default: none. */
  readonly tools?: readonly string[];
}

/** A job as its handlers see it. */
export interface JobReport<Data> {
  readonly id: string;
  readonly name: string;
  /** Absent: it was enqueued without one. */
  readonly key?: string;
  readonly userId: string;
  readonly data: Data;
  /** How many runs there were. */
  readonly attempts: number;
  /** The last run. Absent: none could be queued. */
  readonly executionId?: string;
}

/** Every process that is to call the handlers defines the job, before or after it has been enqueued. */
export interface JobDefinition<Data> {
  /** Letters, digits, `_`, `.`, `:` and `-`. */
  readonly name: string;
  /** Called once, when the job is enqueued. What it returns is stored, and is what retries run, too. */
  readonly run: (data: Data) => JobRun | Promise<JobRun>;
  /** How often a run that failed is run again. Default: 0. */
  readonly retries?: number;
  /** Milliseconds before the first retry. The delay doubles with each further one. Default: 60,000. */
  readonly retryDelayMs?: number;
  /**
   * Called once the run has completed, in one of the processes. If it throws or its process dies, it is called again,
   * so it should be idempotent: `job.id` is the same each time.
   */
  readonly onComplete?: (job: JobReport<Data>, result: RunResult) => unknown;
  /** Called as `onComplete` is, once the last attempt has failed or the run was cancelled. */
  readonly onFailed?: (job: JobReport<Data>, error: LLMError) => unknown;
}

export interface EnqueueOptions {
  /** Default: as soon as a worker is free. */
  readonly at?: Date;
  /** One job is enqueued per name and key, by whichever processes. A key is not used again for 30 days. */
  readonly key?: string;
}

export interface EnqueuedJob {
  readonly id: string;
  /** The run. Absent if another process is about to queue it. */
  readonly executionId?: string;
}

export interface JobSchedule extends Omit<Schedule, 'name'> {
  /** Differs between the schedules of one job. Default: the name of the job. */
  readonly name?: string;
}

export interface ServerJobsOptions {
  readonly store: ServerJobStore;
  readonly loop: Pick<AgenticLoop, 'leasedWork' | 'waitForResult'>;
  readonly queueRun: Pick<QueueRunUseCase, 'execute'>;
  readonly queue: {
    schedule(schedule: Schedule, task: (occasion: ScheduledOccasion) => Promise<void>): Promise<void>;
  };
  readonly logger: Logger;
}

interface JobRequest {
  readonly request: Omit<AgenticRequest, 'requestId'>;
  readonly queue: QueueOptions;
}

const NAME = /^[\w.:-]{1,100}$/;
const MAX_KEY_LENGTH = 500;
const DEFAULT_RETRY_DELAY_MS = 60_000;
/** Milliseconds between two looks for jobs that are due. */
const SWEEP_MS = 5_000;
const SWEEP_LIMIT = 100;
/** Milliseconds before a handler that threw is called again. The delay doubles each time, up to the longest. */
const HANDLER_DELAY_MS = 1_000;
const MAX_HANDLER_DELAY_MS = 3_600_000;
/** Ends that another attempt would not change. */
const FINAL: ReadonlySet<ErrorCode> = new Set([
  'aborted',
  'auth-failed',
  'permission-denied',
  'invalid-request',
  'model-not-found',
  'context-too-long',
  'unsupported-feature',
  'missing-package',
]);

export class ServerJobs implements LeasedWorkSource {
  private readonly options: ServerJobsOptions;
  // Boundary: each takes the data that it was enqueued with.
  private readonly definitions = new Map<string, JobDefinition<unknown>>();
  /** Ids of the jobs that this process follows. */
  private readonly followed = new Set<string>();
  private readonly stopping = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: ServerJobsOptions) {
    this.options = options;
  }

  /**
   * From now on, this process calls the handlers of the job, also for what other processes have enqueued.
   * @returns the definition, for `enqueue` and `schedule`
   * @throws LLMInvalidRequestError for an invalid name, or one that is defined already
   */
  define<Data = undefined>(definition: JobDefinition<Data>): JobDefinition<Data> {
    const { name } = definition;
    if (!NAME.test(name))
      throw new LLMInvalidRequestError(
        `Invalid job name "${name}". Expected 1 to 100 letters, digits, "_", ".", ":" and "-".`,
        { path: 'name' },
      );
    if (this.definitions.has(name))
      throw new LLMInvalidRequestError(`The job "${name}" is defined already. Give each job a name of its own.`, {
        path: 'name',
      });
    this.definitions.set(name, definition as JobDefinition<unknown>);
    this.scheduleSweep(0);
    return definition;
  }

  /**
   * Resolves when the job is stored; from then on it will be run, and its end reported.
   * @param data survives a round trip through JSON
   * @throws what the definition's `run` throws; LLMPermissionError, LLMInvalidRequestError and the like for a run that
   *   is refused
   */
  async enqueue<Data>(
    { name, run }: JobDefinition<Data>,
    data: Data,
    { at, key }: EnqueueOptions = {},
  ): Promise<EnqueuedJob> {
    this.assertDefined(name);
    if (key !== undefined && (key.length === 0 || key.length > MAX_KEY_LENGTH))
      throw new LLMInvalidRequestError(`"key" must have 1 to ${MAX_KEY_LENGTH} characters.`, { path: 'key' });
    const { store, logger } = this.options;
    const id = key === undefined ? randomUUID() : idOf(name, key);
    const existing = key === undefined ? undefined : await store.find(id);
    if (existing !== undefined) return existing;
    const given = await run(data);
    const job: ServerJob = {
      ...{ id, name, userId: given.userId, attempt: 1 },
      work: omitUndefined({ key, data, request: toRequest(given) }),
    };
    const now = Date.now();
    const dueAt = Math.max(now, at?.getTime() ?? now);
    if (!(await store.insert(job, dueAt))) return (await store.find(id)) ?? { id };
    try {
      const executionId = await this.queueRun(job, dueAt > now ? dueAt : undefined);
      await store.queued(id, executionId);
      if (dueAt <= now) void this.takeFree({ ...job, executionId });
      return { id, executionId };
    } catch (error) {
      // The job may be stored, and is then found when it is due.
      if (isStoreOutage(error)) throw error;
      await store.removeFree(id).catch((thrown: unknown) => logger.warn(`Could not remove the job ${id}.`, thrown));
      throw error;
    }
  }

  /**
   * Enqueues the job at each time of the schedule, once, however many processes schedule it.
   * @throws LLMInvalidRequestError for an invalid schedule
   */
  async schedule<Data>(
    job: JobDefinition<Data>,
    { name = job.name, ...times }: JobSchedule,
    data: Data,
  ): Promise<void> {
    this.assertDefined(job.name);
    const schedule = { name, ...times };
    await this.options.queue.schedule(schedule, async ({ dueAt }) => {
      const key = dueAt === undefined ? undefined : `${name} ${new Date(dueAt).toISOString()}`;
      await this.enqueue(job, data, omitUndefined({ key }));
    });
  }

  /** The jobs that other processes followed, and those that this one could not leave. */
  async leased(limit: number, except: readonly string[] = []): Promise<readonly LeasedWork[]> {
    if (this.definitions.size === 0) return [];
    const found = await this.options.store.owned([...this.definitions.keys()], limit + this.followed.size, except);
    return found
      .filter(({ job }) => !this.followed.has(job.id))
      .map(({ job, owner }) => ({ owner, recover: () => this.take(job, owner) }));
  }

  /** Leaves the jobs that have not ended to other processes. Handlers that have begun go on. */
  stop(): void {
    clearTimeout(this.timer);
    this.stopping.abort(new LLMAbortedError('The process is shutting down.'));
  }

  private assertDefined(name: string): void {
    if (!this.definitions.has(name))
      throw new LLMInvalidRequestError(`The job "${name}" is not defined in this process. Call define first.`, {
        path: 'name',
      });
  }

  private scheduleSweep(delayMs: number): void {
    clearTimeout(this.timer);
    if (this.stopping.signal.aborted) return;
    this.timer = runDetached(() =>
      setTimeout(() => {
        void this.sweep().finally(() => this.scheduleSweep(SWEEP_MS));
      }, delayMs),
    );
    this.timer.unref();
  }

  /** Never rejects. */
  private async sweep(): Promise<void> {
    const { store, logger } = this.options;
    try {
      for (const job of await store.due([...this.definitions.keys()], Date.now(), SWEEP_LIMIT)) void this.takeFree(job);
    } catch (error) {
      if (!isStoreOutage(error)) logger.error('The look for jobs that are due failed and will be retried.', error);
    }
  }

  /** Never rejects: what fails is found again. */
  private async takeFree(job: ServerJob): Promise<void> {
    try {
      await runDetached(() => this.take(job));
    } catch (error) {
      this.options.logger.warn(`The job ${label(job)} is left to whoever finds it.`, error);
    }
  }

  /** @param from the owner that is gone; default: nobody has claimed it */
  private async take(job: ServerJob, from?: string): Promise<void> {
    const { store, loop } = this.options;
    if (this.followed.has(job.id) || this.stopping.signal.aborted) return;
    this.followed.add(job.id);
    try {
      await loop.leasedWork.run(`job ${job.id}`, async () => {
        if (await store.claim(job, loop.leasedWork.ownerId, from)) await this.follow(job);
      });
    } finally {
      this.followed.delete(job.id);
    }
  }

  /** Follows a job of this process to the end of an attempt. */
  private async follow(job: ServerJob): Promise<void> {
    const { store, loop, logger } = this.options;
    const owner = loop.leasedWork.ownerId;
    const definition = this.definitions.get(job.name);
    if (definition === undefined) return;
    let outcome: RunResult | LLMError;
    let { executionId } = job;
    try {
      executionId ??= await this.begin(job, owner);
      outcome = await loop.waitForResult(executionId, this.stopping.signal);
    } catch (error) {
      if (this.isLeft(error)) {
        if (!isLLMError(error))
          logger.error(`The job ${label(job)} could not be followed. This will be retried.`, error);
        await store.release(job.id, owner, Date.now());
        return;
      }
      outcome = error as LLMError;
    }
    const { retries = 0, retryDelayMs = DEFAULT_RETRY_DELAY_MS } = definition;
    if (isLLMError(outcome) && job.attempt <= retries && !FINAL.has(outcome.code)) {
      const delay = Math.max(retryDelayMs * 2 ** (job.attempt - 1), outcome.retryAfterMs ?? 0);
      await store.release(job.id, owner, Date.now() + delay, { attempt: job.attempt + 1 });
      return;
    }
    // It may have been taken over, or removed with its user's data.
    if (!(await store.isOwner(job.id, owner))) return;
    await this.report(definition, omitUndefined({ ...job, executionId }), outcome);
  }

  /** Queues the run of an attempt. A repeated request of an attempt is the same run. */
  private async begin(job: ServerJob, owner: string): Promise<string> {
    const executionId = await this.queueRun(job);
    await this.options.store.begin(job.id, owner, executionId);
    return executionId;
  }

  private async queueRun({ id, userId, attempt, work }: ServerJob, dueAt?: number): Promise<string> {
    // Boundary: `toRequest` made it.
    const { request, queue } = work.request as JobRequest;
    const { executionId } = await this.options.queueRun.execute(
      { userId, source: 'job' },
      { ...request, requestId: `job:${id}:${attempt}` },
      dueAt,
      queue,
    );
    return executionId;
  }

  private async report(
    { onComplete, onFailed }: JobDefinition<unknown>,
    job: ServerJob,
    outcome: RunResult | LLMError,
  ): Promise<void> {
    const { store, loop, logger } = this.options;
    const owner = loop.leasedWork.ownerId;
    try {
      if (isLLMError(outcome)) await onFailed?.(toReport(job), outcome);
      else await onComplete?.(toReport(job), outcome);
    } catch (error) {
      const failures = (job.handlerFailures ?? 0) + 1;
      const delay = Math.min(HANDLER_DELAY_MS * 2 ** (failures - 1), MAX_HANDLER_DELAY_MS);
      logger.error(`A handler of the job ${label(job)} failed and is called again in ${delay / 1_000} seconds.`, error);
      await store.release(job.id, owner, Date.now() + delay, { handlerFailures: failures });
      return;
    }
    await store.end(job.id, owner);
  }

  /** Whether the job goes on later: in another process, or once the store can be reached. */
  private isLeft(error: unknown): boolean {
    return (
      this.stopping.signal.aborted || error instanceof LeaseLostError || isStoreOutage(error) || !isLLMError(error)
    );
  }
}

/** A key may name what is private. */
function idOf(name: string, key: string): string {
  return createHash('sha256')
    .update(JSON.stringify([name, key]))
    .digest('base64url');
}

function label({ id, name }: ServerJob): string {
  return `"${name}" (${id})`;
}

function toRequest({
  userId: _userId,
  tools = [],
  priority,
  globalPriority,
  concurrencyKey,
  concurrencyLimit,
  ...request
}: JobRun): JobRequest {
  return {
    request: { ...request, tools },
    queue: omitUndefined({ priority, globalPriority, concurrencyKey, concurrencyLimit }),
  };
}

function toReport({ id, name, userId, work, attempt, executionId }: ServerJob): JobReport<unknown> {
  return omitUndefined({ id, name, key: work.key, userId, data: work.data, attempts: attempt, executionId });
}
