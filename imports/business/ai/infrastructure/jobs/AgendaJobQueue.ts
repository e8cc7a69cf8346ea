/**
 * A job queue for several processes: Agenda, on MongoDB. When a process dies, another one takes its jobs once their
 * locks have not been renewed for a while. https://github.com/agenda/agenda (5.x, by its own MongoDB driver)
 */
import { consoleLogger } from '../../domain/consoleLogger';
import type { Agenda, Job } from 'agenda';
import { explainMissingPackage } from '../../domain/errors/explainMissingPackage';
import { LLMConnectionError, MissingPackageError } from '../../domain/errors/LLMErrors';
import { DEFAULT_JOB_LIMITS } from '../../domain/interfaces/JobQueue';
import type { JobLimits, JobQueue, JobWork, Schedule, ScheduledTask } from '../../domain/interfaces/JobQueue';
import type { Logger } from '../../domain/interfaces/Logger';
import { checkSchedule } from './checkSchedule';
import { nextTimeOf } from './cronTimes';

export interface AgendaOptions extends Partial<JobLimits> {
  /** A connection string of MongoDB, such as that in MONGO_URL. */
  readonly url: string;
  /** Milliseconds between two polls for new jobs. */
  readonly pollEvery?: number;
  /** Milliseconds after which another process may take a job whose lock was not renewed. */
  readonly lockLifetime?: number;
  /** Default: the console. */
  readonly logger?: Logger;
}

interface RunJob {
  readonly executionId: string;
}

export const JOBS = 'ai_jobs';
const RUN = 'run';
const FAIL_REASON = 'The error is in the log of the server.';
const REPORT_EVERY_MS = 60_000;
const TIMEOUTS = { serverSelectionTimeoutMS: 10_000, connectTimeoutMS: 10_000, socketTimeoutMS: 30_000 };
const DEFAULT_POLL_MS = 1_000;
const DEFAULT_LOCK_MS = 30_000;
/** Scheduled tasks run in addition to runs. */
const MAX_CONCURRENT_TASKS = 20;

/**
 * @throws LLMConnectionError if no server responds; it does not repeat the URL, which may contain a password.
 *   MissingPackageError without Agenda
 */
export async function openAgendaQueue(options: AgendaOptions): Promise<AgendaJobQueue> {
  const { url, pollEvery = DEFAULT_POLL_MS, lockLifetime = DEFAULT_LOCK_MS, logger = consoleLogger } = options;
  const limits = { ...DEFAULT_JOB_LIMITS, ...options };
  const { Agenda: AgendaClass } = await importAgenda();
  const agenda = await new Promise<Agenda>((resolve, reject) => {
    const created: Agenda = new AgendaClass(
      {
        db: { address: url, collection: JOBS, options: timeoutsFor(url) },
        processEvery: `${pollEvery / 1000} seconds`,
        maxConcurrency: limits.concurrency + MAX_CONCURRENT_TASKS,
        defaultLockLifetime: lockLifetime,
      },
      (error: unknown) => {
        if (error === undefined || error === null) resolve(created);
        else reject(new LLMConnectionError('Could not connect to the MongoDB of the job queue.', { cause: error }));
      },
    );
  });
  return new AgendaJobQueue(agenda, { ...limits, lockLifetime, logger });
}

/** Without them, an operation on a connection that the network has lost never ends. A URL's own options count. */
function timeoutsFor(url: string): Partial<typeof TIMEOUTS> {
  const isGiven = (name: string): boolean => new RegExp(`[?&]${name}=`, 'i').test(url);
  return Object.fromEntries(Object.entries(TIMEOUTS).filter(([name]) => !isGiven(name)));
}

const USER = 'The job queue "agenda", which MONGO_URL or JOBS_ENGINE selects,';

/**
 * Loaded on demand, together with its own database driver.
 * @throws MissingPackageError also for the app's Agenda 6, which takes its database by other means
 */
async function importAgenda(): Promise<typeof import('agenda')> {
  let agenda: typeof import('agenda');
  try {
    agenda = await import('agenda');
  } catch (error) {
    throw explainMissingPackage(error, 'agenda', USER);
  }
  if (!('mongo' in agenda.Agenda.prototype)) throw new MissingPackageError('agenda@5', USER);
  return agenda;
}

export class AgendaJobQueue implements JobQueue {
  readonly engine = 'agenda';
  readonly limits: JobLimits;
  private readonly agenda: Agenda;
  private readonly options: JobLimits & { readonly lockLifetime: number; readonly logger: Logger };
  private readonly pendingWork = new Set<Promise<void>>();
  /** By `performance.now()`. */
  private outageReportedAt = -Infinity;

  constructor(agenda: Agenda, options: JobLimits & { readonly lockLifetime: number; readonly logger: Logger }) {
    this.agenda = agenda;
    this.options = options;
    this.limits = options;
    this.guardSaves();
    agenda.on('success', (job: Job) => this.trackInBackground(this.onSuccess(job)));
    agenda.on('fail', (error: unknown, job: Job) => this.trackInBackground(this.onFailure(job, error)));
    agenda.on('error', (error: unknown) => this.report('The job queue failed.', error));
  }

  async add(executionId: string, at?: number): Promise<void> {
    await this.agenda
      .create(RUN, { executionId })
      .unique({ 'data.executionId': executionId }, { insertOnly: true })
      .schedule(new Date(at ?? Date.now()))
      .save();
  }

  async remove(executionIds: readonly string[]): Promise<number> {
    return (await this.agenda.cancel({ name: RUN, 'data.executionId': { $in: executionIds } })) ?? 0;
  }

  async schedule(schedule: Schedule, task: ScheduledTask): Promise<void> {
    checkSchedule(schedule);
    const name = taskName(schedule.name);
    const { cron, timezone = 'UTC' } = schedule;
    this.agenda.define(name, { concurrency: 1, lockLimit: 1 }, (job: Job) => {
      setNextTime(job, schedule);
      return this.track(this.withRenewal(job, task()));
    });
    const [planned] = await this.agenda.jobs({ name });
    // Rescheduling would lose a time that passed while no process was running.
    if (planned?.attrs.repeatInterval === cron && planned.attrs.repeatTimezone === timezone) return;
    // Boundary: for one name it returns one job, which its type does not say.
    const job = (await this.agenda.every(cron, name, undefined, { timezone })) as Job;
    setNextTime(job, schedule);
    await job.save();
  }

  /** A later save by the process that runs the task restores the next time, so that it does not run twice. */
  async trigger(name: string): Promise<boolean> {
    const [planned] = await this.agenda.jobs({ name: taskName(name) });
    if (planned === undefined) return false;
    await planned.schedule(new Date()).save();
    return true;
  }

  async start(work: JobWork): Promise<void> {
    const { concurrency } = this.options;
    if (concurrency > 0) {
      const runJob = (job: Job<RunJob>): Promise<void> =>
        this.track(this.withRenewal(job, work(job.attrs.data.executionId)));
      this.agenda.define<RunJob>(RUN, { concurrency, lockLimit: concurrency }, runJob);
    }
    await this.agenda.start();
  }

  async stop(): Promise<void> {
    try {
      await this.agenda.stop();
    } catch (error) {
      // Other processes take the jobs once their locks have expired.
      this.report('Could not unlock the jobs of this process.', error);
    }
    while (this.pendingWork.size > 0) await Promise.allSettled(this.pendingWork);
    await this.agenda.close({ force: true });
  }

  /** Renews the job's lock while the work is in progress. */
  private async withRenewal(job: { touch(): Promise<unknown> }, work: Promise<void>): Promise<void> {
    const renewal = setInterval(() => void job.touch().catch(() => undefined), this.options.lockLifetime / 3);
    try {
      await work;
    } finally {
      clearInterval(renewal);
    }
  }

  /** Removes a finished run's job, so that the run can be added again. A schedule's job repeats. */
  private async onSuccess(job: Job): Promise<void> {
    if (job.attrs.name === RUN) await job.remove();
    else if ((job.attrs.failCount ?? 0) > 0) {
      job.attrs.failCount = 0;
      await job.save();
    }
  }

  private async onFailure(job: Job, error: unknown): Promise<void> {
    const { retries, retryDelay, logger } = this.options;
    const { name, failCount = 1 } = job.attrs;
    const label = name === RUN ? `The run ${String(job.attrs.data['executionId'])}` : `The ${name}`;
    if (failCount <= retries) {
      logger.warn(`${label} failed and will be retried.`, error);
      await job.schedule(new Date(Date.now() + retryDelay * 2 ** (failCount - 1))).save();
      return;
    }
    logger.error(`${label} failed after ${failCount} attempts.`, error);
    await this.onSuccess(job);
  }

  /** An outage of the database makes much fail: it is reported once a minute. */
  private report(message: string, error: unknown): void {
    if (!isOfDriver(error)) {
      this.options.logger.error(message, error);
      return;
    }
    const now = performance.now();
    if (now - this.outageReportedAt < REPORT_EVERY_MS) return;
    this.outageReportedAt = now;
    this.options.logger.error(`The job queue cannot reach its database: ${error.message}`);
  }

  /** Returns the same promise, which `stop` waits for. */
  private track(work: Promise<void>): Promise<void> {
    const settled = work.then(
      () => undefined,
      () => undefined,
    );
    this.pendingWork.add(settled);
    void settled.then(() => this.pendingWork.delete(settled));
    return work;
  }

  /** For work whose failure has no other observer. */
  private trackInBackground(work: Promise<void>): void {
    this.track(work).catch((error: unknown) => this.report('Could not finish a job.', error));
  }

  /**
   * Agenda saves jobs in places where a failure would be an unhandled rejection and end the process. A job that could
   * not be saved is found again by its old lock; only the failure to add one is thrown. Its collection is not sealed,
   * so that the text of an error, which may quote what users wrote, is kept out of it.
   */
  private guardSaves(): void {
    const agenda = this.agenda;
    const save = agenda.saveJob.bind(agenda);
    agenda.saveJob = async (job: Job) => {
      if (typeof job.attrs.failReason === 'string') job.attrs.failReason = FAIL_REASON;
      try {
        return await save(job);
      } catch (error) {
        if (!('_id' in job.attrs)) throw error;
        this.report(`Could not save the state of the job ${job.attrs.name}.`, error);
        return job;
      }
    };
  }
}

/** Agenda has computed it, too, but not as the other queue does. It stores the job again when the task has ended. */
function setNextTime(job: Job, schedule: Schedule): void {
  const next = nextTimeOf(schedule, Date.now());
  if (next !== undefined) job.attrs.nextRunAt = new Date(next);
}

/** Errors about connections. Those of commands are MongoServerErrors. */
function isOfDriver(error: unknown): error is Error {
  return error instanceof Error && error.name.startsWith('Mongo') && error.name !== 'MongoServerError';
}

function taskName(schedule: string): string {
  return `task:${schedule}`;
}
